/** Paths of JSON-RPC on the port of REST. */
export const rpcPaths = ['/', '/rpc']
