/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file warpool.h
 * C interface of libwarpool: named, immutable arrays shared between programs without copies.
 *
 * Rules that hold for every function
 *  - Errors: functions that can fail return a ::warpool_status and, if `error` is not NULL, fill it with the same code and a
 *    message that says what failed, which object, why, and what to do. Out-parameters are written on success only.
 *  - Threads: every function may be called from any thread. A ::warpool_connection may be shared; several threads may wait on it
 *    at once. A ::warpool_draft belongs to one thread at a time. The library installs no signal handler. It starts a thread in one
 *    case: after a put of 1 MiB or more, one with all signals blocked makes memory for the next put and ends (WARPOOL_SPARE=0 in
 *    the environment turns that off).
 *  - Fork: a child process gets a session of its own at its first call. Arrays stay mapped; drafts stay with the parent.
 *  - Blocking: a function blocks for one exchange with the broker, and longer only where it takes a ::warpool_wait. A blocked
 *    session is shown as waiting and holds no turn while it waits.
 *  - Lost broker: a call reconnects and registers again what this process holds; see ::warpool_connect_options::reconnect_ms.
 *  - Units: sizes, offsets and strides are bytes, times are milliseconds or nanoseconds as the name says.
 *  - Memory order: bytes are never reordered; layout is told by strides. A(i,j,k) in MATLAB is a[i-1,j-1,k-1] in Python.
 *  - Structs that carry `struct_size` may grow: set it to sizeof the struct, best with the *_INIT macros.
 */
#ifndef WARPOOL_WARPOOL_H
#define WARPOOL_WARPOOL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WARPOOL_API __attribute__((visibility("default")))
#else
#define WARPOOL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define WARPOOL_VERSION_MAJOR 0
#define WARPOOL_VERSION_MINOR 1
#define WARPOOL_VERSION_PATCH 0

/** Largest number of dimensions of an array (NumPy 1.x has the same). */
#define WARPOOL_MAX_NDIM 32
/** Longest name of an array in bytes, without the terminating NUL. */
#define WARPOOL_MAX_NAME 255
/** Longest message in a ::warpool_error, with the terminating NUL. */
#define WARPOOL_MAX_MESSAGE 1024
/** Most parts of one item (fields of a struct, pieces of sparse matrices, nested ones included). */
#define WARPOOL_MAX_PARTS 256
/** Every array starts on a multiple of this many bytes. */
#define WARPOOL_ALIGNMENT 256

/** Status codes; the same numbers on the wire. Python exceptions and MATLAB identifiers map to them one to one. */
typedef enum warpool_status {
  WARPOOL_OK = 0,
  WARPOOL_INVALID_ARGUMENT = 1,  /**< the call itself is wrong: bad name, shape, option */
  WARPOOL_NOT_FOUND = 2,         /**< no such array, version or session */
  WARPOOL_PERMISSION_DENIED = 3, /**< it exists, but is not yours to read or change */
  WARPOOL_TIMED_OUT = 4,         /**< the wait ended; the message says who was waited for */
  WARPOOL_INTERRUPTED = 5,       /**< the wait was interrupted (Ctrl-C, warpool_interrupt) */
  WARPOOL_OUT_OF_MEMORY =
      6, /**< over a memory budget, or the system has no memory; the message names holders */
  WARPOOL_LIMIT_REACHED =
      7, /**< a cap other than memory: names, connections, file descriptors, message size */
  WARPOOL_NO_BROKER = 8, /**< no broker runs and none could be started, or it was lost */
  WARPOOL_VERSION_MISMATCH =
      9, /**< broker and library cannot talk to each other; the message says which to update */
  WARPOOL_PROTOCOL_ERROR = 10, /**< the other side broke the protocol */
  WARPOOL_IO_ERROR = 11,       /**< a file could not be read or written */
  WARPOOL_UNSUPPORTED =
      12, /**< not possible on this system, in this build or for this kind of array */
  WARPOOL_LOST =
      13, /**< the array or draft no longer exists (broker and keeper died, or it was filled by a parent process) */
  WARPOOL_CONFLICT = 14 /**< the state does not allow it (already published, being replaced) */
} warpool_status;

typedef struct warpool_error {
  int32_t code; /**< a ::warpool_status */
  char message[WARPOOL_MAX_MESSAGE];
} warpool_error;

/** Name of a status code, such as "not_found"; never NULL. */
WARPOOL_API const char* warpool_status_name(int32_t code);
/** Version of this library, such as "0.1.0". */
WARPOOL_API const char* warpool_version(void);

/* ------------------------------------------------------------------------------------------------ element types */

typedef enum warpool_dtype {
  WARPOOL_BOOL = 1, /**< one byte, 0 or 1 */
  WARPOOL_INT8 = 2,
  WARPOOL_INT16 = 3,
  WARPOOL_INT32 = 4,
  WARPOOL_INT64 = 5,
  WARPOOL_UINT8 = 6,
  WARPOOL_UINT16 = 7,
  WARPOOL_UINT32 = 8,
  WARPOOL_UINT64 = 9,
  WARPOOL_FLOAT16 = 10,
  WARPOOL_FLOAT32 = 11,
  WARPOOL_FLOAT64 = 12,
  WARPOOL_COMPLEX64 = 13, /**< two float32, interleaved */
  WARPOOL_COMPLEX128 = 14 /**< two float64, interleaved */
} warpool_dtype;

/** Bytes of one element, 0 for an unknown dtype. */
WARPOOL_API size_t warpool_dtype_size(uint32_t dtype);
/** NumPy's name of a dtype ("float64"), "unknown" for others; never NULL. */
WARPOOL_API const char* warpool_dtype_name(uint32_t dtype);

/**
 * What a part stands for. An item is one plain array (one part with the empty path), or a tree of parts in the same memory.
 *
 *   kind                  path                 dtype, shape
 *   WARPOOL_KIND_ARRAY    ""  or "a/b"         numbers or BOOL, any shape
 *   WARPOOL_KIND_TEXT     ""  or "a/b"         UINT8, (n): UTF-8 bytes; Python str, MATLAB row char
 *   WARPOOL_KIND_CHARS    ""  or "a/b"         UINT8 or UINT16, any shape: a char matrix that is not one row (UINT16: UTF-16 units)
 *   WARPOOL_KIND_STRUCT   ""  or "a"           no elements, ndim 0, dtype UINT8: opens a struct (dict); its fields follow with longer paths
 *   WARPOOL_KIND_SPARSE   ""  or "a"           no elements, dtype of the values, shape (rows, cols): a compressed-column sparse matrix;
 *                                              its pieces follow as arrays "a/data" (nnz), "a/indices" (nnz, INT64, 0-based rows,
 *                                              ascending in a column), "a/indptr" (cols+1, INT64)
 * A path is a list of field names joined by "/". A field name matches [A-Za-z][A-Za-z0-9_]{0,62}, so that it is valid in every
 * language. Parents come before their children. In a plain path ("" parent) children of the root have the path "data", ....
 */
typedef enum warpool_kind {
  WARPOOL_KIND_ARRAY = 0,
  WARPOOL_KIND_TEXT = 1,
  WARPOOL_KIND_CHARS = 2,
  WARPOOL_KIND_STRUCT = 3,
  WARPOOL_KIND_SPARSE = 4
} warpool_kind;

/** One part of an item: element type, shape, layout and place. Parts with a kind of STRUCT or SPARSE own no bytes. */
typedef struct warpool_part {
  const char* path; /**< "" for a plain array; see ::warpool_kind */
  uint32_t kind;    /**< a ::warpool_kind */
  uint32_t dtype;   /**< a ::warpool_dtype */
  uint32_t ndim;    /**< 0..WARPOOL_MAX_NDIM */
  uint32_t reserved;
  int64_t shape[WARPOOL_MAX_NDIM]; /**< extents, each >= 0 */
  int64_t strides
      [WARPOOL_MAX_NDIM]; /**< bytes from one index to the next along each dimension; published ones are >= 0 */
  uint64_t offset; /**< bytes from the start of the item to the element with all indices 0 */
  const void*
      data; /**< put: address of the element with all indices 0; get: address in this process; create: ignored */
} warpool_part;

/** Memory order for warpool_part_init. */
typedef enum warpool_order {
  WARPOOL_ORDER_C = 0, /**< row-major: the last index runs fastest */
  WARPOOL_ORDER_F = 1  /**< column-major: the first index runs fastest, as in MATLAB */
} warpool_order;

/** Fills `part` as a plain array (path "", offset 0, data NULL) with compact strides in the given order. */
WARPOOL_API warpool_status warpool_part_init(warpool_part* part, uint32_t dtype, uint32_t ndim,
                                             const int64_t* shape, uint32_t order,
                                             warpool_error* error);

/* ---------------------------------------------------------------------------------------------------- connection */

typedef struct warpool_connection warpool_connection;

/**
 * How long a call may wait, and how it is interrupted. While it waits the library calls `interrupted(context)` at least every
 * 100 ms, with no lock held; a non-zero answer ends the wait with WARPOOL_INTERRUPTED. NULL for the whole struct: do not wait.
 */
typedef struct warpool_wait {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t timeout_ms; /**< 0: do not wait, negative: no limit */
  int (*interrupted)(void* context);
  void* context;
} warpool_wait;
#define WARPOOL_WAIT_INIT \
  { sizeof(warpool_wait), 0, -1, 0, 0 }

enum {
  WARPOOL_CONNECT_NO_START = 1u, /**< do not start a private broker when none runs */
  WARPOOL_CONNECT_NO_RESTORE =
      2u, /**< do not reconnect when the broker is lost: fail with WARPOOL_NO_BROKER */
  WARPOOL_CONNECT_ADMIN =
      4u /**< use the admin socket: FOLDER-admin/NAME for FOLDER/NAME (its owner only) */
};

typedef struct warpool_connect_options {
  uint32_t struct_size;
  uint32_t flags;
  const char*
      socket_path; /**< NULL: WARPOOL_SOCKET, the system socket, the private one of this user */
  const char* language; /**< "c", "python", "octave", "matlab", ...; NULL: "c" */
  const char* label;    /**< free text shown to people; NULL: WARPOOL_LABEL or "" */
  int64_t
      reconnect_ms; /**< how long a call tries to reach a lost broker before WARPOOL_NO_BROKER; 0: the default of 10 s */
  int (*interrupted)(
      void*
          context); /**< asked while a call waits for the broker itself (start, reconnect); may be NULL */
  void* context;
} warpool_connect_options;
#define WARPOOL_CONNECT_OPTIONS_INIT \
  { sizeof(warpool_connect_options), 0, 0, 0, 0, 0, 0, 0 }

/** Connects, starting a private broker when none runs. `options` may be NULL. Free with warpool_close. */
WARPOOL_API warpool_status warpool_connect(const warpool_connect_options* options,
                                           warpool_connection** out, warpool_error* error);
/** Ends the session. Drafts must have been published or discarded; arrays stay valid until released. NULL is allowed. */
WARPOOL_API void warpool_close(warpool_connection* connection);
/** Wakes every wait on this connection with WARPOOL_INTERRUPTED. Async-signal-safe. */
WARPOOL_API void warpool_interrupt(warpool_connection* connection);
/** One empty exchange with the broker. */
WARPOOL_API warpool_status warpool_ping(warpool_connection* connection, warpool_error* error);

/** Facts about the broker and this session. Strings belong to the connection and live until warpool_close. */
typedef struct warpool_broker_info {
  uint32_t struct_size;
  uint32_t protocol;     /**< negotiated protocol version */
  uint64_t epoch;        /**< changes when broker and keeper were lost together */
  uint64_t session;      /**< id of this session */
  int32_t broker_pid;    /**< as the broker sees itself (its PID namespace) */
  int32_t keeper_pid;    /**< 0: none */
  uint64_t restarts;     /**< times the keeper restarted the broker */
  uint64_t memory_limit; /**< --max-memory in bytes */
  uint64_t
      memory_used; /**< bytes charged now: published, drafts, spares, removed but still viewed */
  uint64_t memory_published;
  uint64_t memory_drafts;
  uint64_t memory_spare;
  uint64_t memory_viewed; /**< removed or replaced, but still viewed by a program */
  uint64_t arrays;        /**< published items */
  uint64_t sessions;
  uint64_t uptime_ms;
  uint64_t lost;       /**< arrays lost with an earlier broker and keeper */
  uint32_t is_private; /**< started on demand by a client of this user */
  uint32_t reserved;
  char broker_version[32];
  char socket_path[108];
} warpool_broker_info;
WARPOOL_API warpool_status warpool_get_broker_info(warpool_connection* connection,
                                                   warpool_broker_info* out, warpool_error* error);
/** Asks the broker to stop; allowed on its admin socket, and for the owner of a private broker. `force`: with sessions connected. */
WARPOOL_API warpool_status warpool_shutdown(warpool_connection* connection, int force,
                                            warpool_error* error);

/* -------------------------------------------------------------------------------------------------------- arrays */

/**
 * Names are paths: one or more components of [A-Za-z0-9_.-] joined by "/", at most WARPOOL_MAX_NAME bytes; no component is "." or
 * "..". Each user has names of their own. Another user's array is written "user:name" (a login name or a number).
 */

/** A published, read-only item mapped into this process. Reference counted. */
typedef struct warpool_array warpool_array;
/** An item that is being filled by this process. */
typedef struct warpool_draft warpool_draft;

enum {
  WARPOOL_ARRAY_INLINE =
      1u, /**< bytes came in the message (up to 64 KiB): private memory of this process */
  WARPOOL_ARRAY_REMOVED = 2u,   /**< listing: removed or replaced, but still viewed */
  WARPOOL_ARRAY_WHILE_USED = 4u /**< dropped when its maker has ended and nobody views it */
};

/** Facts about a published item. Pointers belong to the array or listing that gave them. */
typedef struct warpool_array_info {
  uint32_t struct_size;
  uint32_t flags;    /**< WARPOOL_ARRAY_* */
  const char* name;  /**< without the owner */
  const char* owner; /**< login name of the owner where known, else the number */
  uint64_t id;       /**< never used twice; its upper half is the epoch */
  uint64_t version;  /**< of this name: 1, 2, ...; never used twice */
  uint32_t owner_uid;
  uint32_t mode;           /**< permission bits: 0600 private, 0640 group reads, 0644 all read */
  uint64_t size;           /**< bytes of the item */
  int64_t created_unix_ns; /**< time of publishing */
  int64_t expires_in_ms;   /**< time to live left; -1: none */
  uint32_t viewers;        /**< sessions that hold it now */
  uint32_t part_count;
  const warpool_part* parts; /**< part_count of them; `data` is set for arrays, NULL in listings */
  const void* data;          /**< start of the item in this process; NULL in listings */
  const char* attributes;    /**< user's JSON object, or "" */
  int32_t maker_pid;
  uint32_t maker_alive;
  const char* maker_language;
  const char* maker_label;
} warpool_array_info;

typedef struct warpool_create_options {
  uint32_t struct_size;
  uint32_t mode;  /**< permission bits; 0: 0600 */
  int64_t ttl_ms; /**< removed this long after publishing; 0: stays */
  uint32_t flags; /**< WARPOOL_ARRAY_WHILE_USED */
  uint32_t reserved;
  const char* attributes; /**< JSON object of at most 16 KiB, or NULL */
  const warpool_wait*
      wait; /**< wait in the queue while the memory budget is exhausted; NULL: refuse at once */
} warpool_create_options;
#define WARPOOL_CREATE_OPTIONS_INIT \
  { sizeof(warpool_create_options), 0, 0, 0, 0, 0, 0 }

/**
 * Starts an item of `part_count` parts. The library places the parts (offsets are multiples of WARPOOL_ALIGNMENT) and keeps their strides if
 * they are compact in some order of dimensions; else INVALID_ARGUMENT. The memory reads as zeros.
 */
WARPOOL_API warpool_status warpool_create(warpool_connection* connection, const char* name,
                                          const warpool_part* parts, uint32_t part_count,
                                          const warpool_create_options* options,
                                          warpool_draft** out, warpool_error* error);
/** Writable start of part `index`, NULL for a part without bytes or an index out of range. Valid until publish or discard. */
WARPOOL_API void* warpool_draft_data(warpool_draft* draft, uint32_t index);
/**
 * Publishes: seals the memory and gives it the next version of its name. Views of the draft stay valid; what is written to them later stays
 * private to this process. `array` (may be NULL) receives the published item; `version` may be NULL. The draft is consumed on success; on
 * failure it can be tried again or discarded.
 */
WARPOOL_API warpool_status warpool_publish(warpool_draft* draft, warpool_array** array,
                                           uint64_t* version, warpool_error* error);
/** Drops a draft. Its memory stays mapped while `warpool_draft_retain_memory` was called. NULL is allowed. */
WARPOOL_API void warpool_discard(warpool_draft* draft);

/**
 * The memory under a draft, for language sides whose views may outlive the draft: after publish or discard the addresses stay mapped
 * (private) until the returned handle is released with warpool_memory_release.
 */
typedef struct warpool_memory warpool_memory;
WARPOOL_API warpool_memory* warpool_draft_retain_memory(warpool_draft* draft);
WARPOOL_API void warpool_memory_release(warpool_memory* memory);

/**
 * Copies data into a new item and publishes it: one copy, counted. `parts[i].data` and `.strides` describe the source; strides may be of any
 * sign. Sources that are compact in C or F order keep it, others become C order.
 */
WARPOOL_API warpool_status warpool_put(warpool_connection* connection, const char* name,
                                       const warpool_part* parts, uint32_t part_count,
                                       const warpool_create_options* options, uint64_t* version,
                                       warpool_error* error);

/**
 * Maps a published item. `version` 0: the latest. `wait`: how long to wait for a name that does not exist yet (with a version: for that
 * version or a later one, which then is WARPOOL_NOT_FOUND). Release with warpool_array_release.
 */
WARPOOL_API warpool_status warpool_get(warpool_connection* connection, const char* name,
                                       uint64_t version, const warpool_wait* wait,
                                       warpool_array** out, warpool_error* error);
/** Facts about the item; the pointer lives as long as the array. Never NULL. */
WARPOOL_API const warpool_array_info* warpool_array_get_info(const warpool_array* array);
WARPOOL_API void warpool_array_retain(warpool_array* array);
WARPOOL_API void warpool_array_release(warpool_array* array);
/**
 * A second, private mapping of the item (one an array, made at the first call, valid as long as the array): writes to it change no byte that
 * anybody else sees, this array included. For consumers that cannot say read-only. Parts lie at the same offsets.
 */
WARPOOL_API warpool_status warpool_array_copy_on_write(warpool_array* array, void** data,
                                                       warpool_error* error);

/** Removes a name (version 0: whatever is current). Programs that view it keep it. */
WARPOOL_API warpool_status warpool_remove(warpool_connection* connection, const char* name,
                                          uint64_t version, warpool_error* error);
/** Sets permission bits (0400 is implied; write bits for others do not exist) of the current and later versions. */
WARPOOL_API warpool_status warpool_chmod(warpool_connection* connection, const char* name,
                                         uint32_t mode, warpool_error* error);
/** Sets the time to live from now; 0: stays. */
WARPOOL_API warpool_status warpool_expire(warpool_connection* connection, const char* name,
                                          int64_t ttl_ms, warpool_error* error);

/** A snapshot of published items. */
typedef struct warpool_listing warpool_listing;
enum {
  WARPOOL_LIST_ALL_USERS = 1u, /**< also others' arrays that this user may read */
  WARPOOL_LIST_REMOVED = 2u    /**< also those removed but still viewed */
};
/** Lists items whose name matches `pattern` (shell style: * ? [a-z], "*" also matches "/"; NULL: all), sorted by owner and name. */
WARPOOL_API warpool_status warpool_list(warpool_connection* connection, const char* pattern,
                                        uint32_t flags, warpool_listing** out,
                                        warpool_error* error);
/** The one item with this name (version 0: the latest), as a listing with one entry. */
WARPOOL_API warpool_status warpool_stat(warpool_connection* connection, const char* name,
                                        uint64_t version, warpool_listing** out,
                                        warpool_error* error);
WARPOOL_API size_t warpool_listing_count(const warpool_listing* listing);
WARPOOL_API const warpool_array_info* warpool_listing_get(const warpool_listing* listing,
                                                          size_t index);
WARPOOL_API void warpool_listing_free(warpool_listing* listing);

/** Events on names that match a pattern, in order. */
typedef struct warpool_watch warpool_watch;
typedef enum warpool_event_kind {
  WARPOOL_EVENT_PUBLISHED = 1,
  WARPOOL_EVENT_REMOVED = 2, /**< removed or expired; a replacement gives PUBLISHED only */
  WARPOOL_EVENT_OVERFLOW =
      3 /**< events were dropped because this program read too slowly: list again */
} warpool_event_kind;
typedef struct warpool_event {
  uint32_t struct_size;
  uint32_t kind;
  uint64_t version;
  uint32_t owner_uid;
  uint32_t reserved;
  char name[WARPOOL_MAX_NAME + 1];
} warpool_event;
/** Starts watching. With `existing` non-zero, items that exist already come first, as PUBLISHED. `pattern` as in warpool_list. */
WARPOOL_API warpool_status warpool_watch_open(warpool_connection* connection, const char* pattern,
                                              uint32_t flags, int existing, warpool_watch** out,
                                              warpool_error* error);
/** The next event; TIMED_OUT when none came in time. */
WARPOOL_API warpool_status warpool_watch_next(warpool_watch* watch, const warpool_wait* wait,
                                              warpool_event* out, warpool_error* error);
WARPOOL_API void warpool_watch_close(warpool_watch* watch);

/**
 * Writes an item to a file, by way of a temporary name and a rename. One plain array becomes a NumPy .npy file that any tool can read
 * (attributes follow the data); anything else becomes a .wpool file. The file appears complete or not at all.
 */
WARPOOL_API warpool_status warpool_save(warpool_connection* connection, const char* name,
                                        uint64_t version, const char* path, warpool_error* error);
/** Publishes an item from a .npy (any version, C or F order, little-endian) or .wpool file. */
WARPOOL_API warpool_status warpool_load(warpool_connection* connection, const char* path,
                                        const char* name, const warpool_create_options* options,
                                        uint64_t* version, warpool_error* error);

/* ------------------------------------------------------------------------------------- what programs did (counters) */

/** Why bytes were copied rather than shared. */
typedef enum warpool_copy_reason {
  WARPOOL_COPY_PUT = 0,    /**< put of memory that was not born shared */
  WARPOOL_COPY_INLINE = 1, /**< up to 64 KiB travels in the message */
  WARPOOL_COPY_PUBLISH_BUSY =
      2, /**< pages were pinned or mapped elsewhere, so they could not be sealed */
  WARPOOL_COPY_GATEWAY = 3,         /**< MEX gateway: MATLAB cannot adopt foreign memory here */
  WARPOOL_COPY_CONVERT = 4,         /**< another type, layout or class was asked for */
  WARPOOL_COPY_LEGACY_CONSUMER = 5, /**< a private view for a consumer that cannot say read-only */
  WARPOOL_COPY_LATE_WRITE = 6,      /**< writes to a draft's view after publishing (pages) */
  WARPOOL_COPY_REASONS = 7
} warpool_copy_reason;
/** Name of a reason, such as "put"; never NULL. */
WARPOOL_API const char* warpool_copy_reason_name(uint32_t reason);
/** Adds to this session's counters; language sides call it for copies that the library does not see. */
WARPOOL_API void warpool_count_copy(warpool_connection* connection, uint32_t reason,
                                    uint64_t bytes);

typedef struct warpool_session_info {
  uint32_t struct_size;
  int32_t pid;
  uint64_t session;
  uint32_t uid;
  uint32_t alive; /**< 0 in the summary of a run: ended */
  const char* user;
  const char* language;
  const char* label;
  const char* command;     /**< first bytes of the command line */
  const char* container;   /**< short id, or "" */
  const char* waiting_for; /**< what it waits for, or "" */
  uint64_t connected_ms;
  uint64_t idle_ms; /**< since its last request */
  uint64_t memory_drafts;
  uint64_t memory_spare;
  uint64_t memory_published; /**< bytes of its live published items */
  uint64_t arrays_published; /**< so far */
  uint64_t arrays_got;
  uint64_t bytes_published;
  uint64_t bytes_got;    /**< bytes that this program got, shared or inline */
  uint64_t bytes_shared; /**< of those, without a copy */
  uint64_t copies[WARPOOL_COPY_REASONS];
  uint64_t copied_bytes[WARPOOL_COPY_REASONS];
  uint64_t waits;
  uint64_t waited_ms;
} warpool_session_info;
typedef struct warpool_sessions warpool_sessions;
/** Sessions that this user may see (own ones; all on the admin socket). `run`: NULL, or only those of one run, ended ones too. */
WARPOOL_API warpool_status warpool_list_sessions(warpool_connection* connection, const char* run,
                                                 warpool_sessions** out, warpool_error* error);
WARPOOL_API size_t warpool_sessions_count(const warpool_sessions* sessions);
WARPOOL_API const warpool_session_info* warpool_sessions_get(const warpool_sessions* sessions,
                                                             size_t index);
WARPOOL_API void warpool_sessions_free(warpool_sessions* sessions);

#ifdef __cplusplus
}
#endif

#endif /* WARPOOL_WARPOOL_H */
