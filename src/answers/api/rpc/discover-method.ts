import { Type } from '@sinclair/typebox'
import { openRpcDocument } from './openrpc.js'
import { JsonText, method, type RpcMethod } from './method.js'

/** `rpc.discover`, which describes the methods that `all` returns, itself among them. */
export function discoverMethod(all: () => readonly RpcMethod[]): RpcMethod {
  let text: string | undefined
  return method({
    name: 'rpc.discover',
    summary: 'Describes every method in OpenRPC.',
    result: Type.Object(
      {
        openrpc: Type.String({ pattern: '^1\\.' }),
        info: Type.Object({ title: Type.String(), version: Type.String() }),
        methods: Type.Array(Type.Object({ name: Type.String() })),
      },
      { description: 'an OpenRPC document' },
    ),
    run: ({ nodeInfo }) => new JsonText((text ??= JSON.stringify(openRpcDocument(all(), nodeInfo().compile)))),
  })
}

/** `help`, a method a line. Its first line is for pool software, which looks there for merged mining. */
export function helpMethod(all: () => readonly RpcMethod[]): RpcMethod {
  return method({
    name: 'help',
    summary: 'Names of the methods, one a line.',
    result: Type.String(),
    run: () => ['createauxblock==submitauxblock', ...all().map(({ name }) => name)].join('\n'),
  })
}
