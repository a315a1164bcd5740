/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "bare.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* About the size of Warpool's small requests and replies. */
enum { kMessageBytes = 96 };

enum { kPing = 'P', kCreate = 'C', kPublish = 'U', kGet = 'G', kRelease = 'R' };

static void check(int fine, const char* what) {
  if (fine) return;
  perror(what);
  exit(1);
}

static void send_message(int socket, char op, int fd) {
  char message[kMessageBytes] = {op};
  struct iovec data = {message, sizeof message};
  struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  if (fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    struct cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  }
  check(sendmsg(socket, &header, MSG_NOSIGNAL) == sizeof message, "sendmsg");
}

/** The operation that arrived, 0 at the end; `fd` receives a descriptor if one came along. */
static char receive_message(int socket, int* fd) {
  char message[kMessageBytes];
  struct iovec data = {message, sizeof message};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct msghdr header = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(socket, &header, MSG_CMSG_CLOEXEC) <= 0) return 0;
  const struct cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != NULL && fd != NULL) memcpy(fd, CMSG_DATA(rights), sizeof *fd);
  return message[0];
}

static void serve(int socket) {
  int held = -1;
  for (;;) {
    int fd = -1;
    const char op = receive_message(socket, &fd);
    if (op == 0) _exit(0);
    if (op == kPublish) {
      if (held >= 0) close(held);
      held = fd;
    }
    if (op != kRelease) send_message(socket, op, op == kGet ? held : -1);
  }
}

int bare_start(void) {
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(pair[0]);
    serve(pair[1]);
  }
  close(pair[1]);
  return pair[0];
}

void bare_ping(int socket) {
  send_message(socket, kPing, -1);
  check(receive_message(socket, NULL) == kPing, "the bare server");
}

static void exchange(int socket, char op, int fd, int* got) {
  send_message(socket, op, fd);
  check(receive_message(socket, got) == op, "the bare server");
}

static int new_memfd(size_t bytes) {
  const int fd = memfd_create("bare", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  check(fd >= 0, "memfd_create");
  check(ftruncate(fd, (off_t)bytes) == 0, "ftruncate");
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0, "F_ADD_SEALS");
  check(fallocate(fd, 0, 0, (off_t)bytes) == 0, "fallocate");
  return fd;
}

void bare_alloc_fd_map(int socket, size_t bytes) {
  exchange(socket, kCreate, -1, NULL);
  const int fd = new_memfd(bytes);
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  check(memory != MAP_FAILED, "mmap");
  check(madvise(memory, bytes, MADV_DONTFORK) == 0, "madvise");
  memory[0] = 1;
  check(mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd,
             0) == memory,
        "mmap");
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0, "F_SEAL_WRITE");
  exchange(socket, kPublish, fd, NULL);
  munmap(memory, bytes);
  close(fd);
  int got = -1;
  exchange(socket, kGet, -1, &got);
  check(got >= 0, "the bare server's descriptor");
  const volatile char* view = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, got, 0);
  check(view != MAP_FAILED, "mmap");
  check(view[0] == 1, "the bytes");
  munmap((void*)view, bytes);
  close(got);
  send_message(socket, kRelease, -1);
}
