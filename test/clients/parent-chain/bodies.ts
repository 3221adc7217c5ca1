/**
 * Bodies of requests as programs of the parent chain send them: recorded from ela-cli, and those that the aux-block makers of
 * btcpool send. What is between < and > is filled in.
 */
const cli = (method: string, params: string) => `{"id":null,"jsonrpc":"","method":"${method}","params":${params}}`

export const elaCli = {
  connections: cli('getconnectioncount', '{}'),
  neighbors: cli('getneighbors', '{}'),
  nodeState: cli('getnodestate', '{}'),
  height: cli('getcurrentheight', '{}'),
  bestBlock: cli('getbestblockhash', '{}'),
  blockHash: cli('getblockhash', '{"height":"<height>"}'),
  blockHashOfBlock: cli('getblockhash', '{"height":<height>}'),
  block: cli('getblock', '{"blockhash":"<hash>","verbosity":2}'),
  transaction: cli('getrawtransaction', '{"txid":"<txid>"}'),
  pool: cli('getrawmempool', '{}'),
  mine: cli('discretemining', '{"count":<count>}'),
  toggleMining: cli('togglemining', '{"mining":<mining>}'),
  balance: cli('listunspent', '{"addresses":["<address>"]}'),
  coins: cli('getutxosbyamount', '{"address":"<address>","amount":"<amount>"}'),
  send: cli('sendrawtransaction', '{"data":"<hex>"}'),
} as const

/** Of the pool's own maker, which first asks `help` for the two methods, and of its proxy for several chains. */
export const btcpool = {
  help: '{"jsonrpc":"1.0","id":"1","method":"help","params":[]}',
  create: '{"jsonrpc":"1.0","id":"1","method":"createauxblock","params":["<address>"]}',
  submit: '{"jsonrpc":"1.0","id":"1","method":"submitauxblock","params":["<hash>","<auxpow>"]}',
  proxyCreate: '{"id":null,"method":"createauxblock","params":{"paytoaddress":"<address>"}}\n',
  proxySubmit: '{"id":null,"method":"submitauxblock","params":{"auxpow":"<auxpow>","blockhash":"<hash>"}}\n',
} as const

/** A body with its places filled in. */
export function filled(body: string, values: Readonly<Record<string, string | number | boolean>> = {}): string {
  return body.replace(/<(\w+)>/g, (place, name: string) => String(values[name] ?? place))
}
