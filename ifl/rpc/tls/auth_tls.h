#ifndef AUTH_TLS_H
#define AUTH_TLS_H
/* libauth_tls.so: TLS 1.3 for rpc_sync, loaded only when a program talks TCP. The entry of rpc_transport.h.
 */
#include "rpc_transport.h"

rpc_transport_connect_fn auth_tls_connect;

#endif
