// SPDX-License-Identifier: Apache-2.0
// A child of fork gets a session of its own at its first call.
#include "client/connection.h"

namespace warpool::client {
namespace {

// Global, since handlers of fork get no argument: they must find every connection of the process.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;  // guards the two below
Connection* list_first = nullptr;
bool handlers_registered = false;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void ConnectionList::add(Connection& connection) {
  const Lock lock(list_mutex);
  if (!handlers_registered) {
    pthread_atfork(&ConnectionList::prepare, &ConnectionList::parent, &ConnectionList::child);
    handlers_registered = true;
  }
  connection.list_previous_ = nullptr;
  connection.list_next_ = list_first;
  if (list_first != nullptr) list_first->list_previous_ = &connection;
  list_first = &connection;
}

void ConnectionList::remove(Connection& connection) {
  const Lock lock(list_mutex);
  if (connection.list_previous_ == nullptr && list_first != &connection)
    return;  // it never got that far
  (connection.list_previous_ != nullptr ? connection.list_previous_->list_next_ : list_first) =
      connection.list_next_;
  if (connection.list_next_ != nullptr)
    connection.list_next_->list_previous_ = connection.list_previous_;
  connection.list_next_ = connection.list_previous_ = nullptr;
}

void ConnectionList::prepare() {
  pthread_mutex_lock(&list_mutex);
  for (Connection* one = list_first; one != nullptr; one = one->list_next_)
    one->before_fork();
}

void ConnectionList::parent() {
  for (Connection* one = list_first; one != nullptr; one = one->list_next_)
    one->after_fork_in_parent();
  pthread_mutex_unlock(&list_mutex);
}

void ConnectionList::child() {
  for (Connection* one = list_first; one != nullptr; one = one->list_next_)
    one->after_fork_in_child();
  pthread_mutex_unlock(&list_mutex);
}

}  // namespace warpool::client
