import { setTimeout } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { type EventTopic, eventTopics } from '../../base/primitives/chain-event.js'
import { NoAnswer, NodeRefusal } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { answerOf, asAny, asInteger, asText, listOf, objectOf } from '../../base/primitives/answer-form.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { visible } from '../../base/runtime/visible-text.js'
import { isLeft } from '../../ledger/storage/care/level/lock.js'
import { DataDirectory } from '../../ledger/storage/directory.js'
import { callParams } from './call-params.js'
import type { CliContext } from './cli-context.js'
import { heightOption, type OutputOptions, type RestFlags, withNode, withOutput } from './command-options.js'
import { followLog } from './node-log.js'
import { showStatus } from './node-status.js'
import { callAsOwner, type OwnerFlags, ownerOf, restOf } from './owner-token.js'
import { columnLines, examples, report } from './print-output.js'

type NodeFlags = RestFlags & OutputOptions & { readonly dataDir?: string }
type OwnersFlags = OwnerFlags & OutputOptions

/** @tuning ms: a stop that `node stop` waits for */
const stopPatience = 60_000
/** Milliseconds between two looks at a node that stops, and at the lock of its database. */
const stopPause = 100
const lockPause = 500
/**
 * A database that no process has open was left where its directory is marked that long: a node that stops removes the mark at once.
 * @tuning ms: between the end of a node's lock and that of the mark of its run
 */
const leftAfter = 5000

/** `didledger node …` */
export function registerNode(program: Command, context: CliContext): void {
  const node = program.command('node').description('look at a running node, and direct it')
  withDirectory(withNode(withOutput(node.command('status'))))
    .description('show chain, height, peers, pool and votes; exit code 1 if the node is not ready')
    .addHelpText('after', examples('node status', 'node status --rest http://192.0.2.7:20334/api/v1 --json'))
    .action(async (flags: NodeFlags, self: Command) => showStatus(context, await proved(context, flags, self)))
  withDirectory(withNode(withOutput(node.command('peers'))))
    .description('list the connected nodes')
    .addHelpText('after', examples('node peers'))
    .action(async (flags: NodeFlags, self: Command) => peers(context, await proved(context, flags, self)))
  withOwner(withNode(withOutput(node.command('bans'))))
    .description('list who is not let in for now')
    .addHelpText('after', examples('node bans', 'node call addban peer=192.0.2.9 seconds=3600'))
    .action(async (flags: OwnersFlags, self: Command) => bans(context, await located(flags, self)))
  withDirectory(withNode(withOutput(node.command('evidence'))))
    .description('list pairs of votes that a validator may not have signed both')
    .option('--height <n>', 'of this height alone', heightOption)
    .addHelpText('after', examples('node evidence --height 1200'))
    .action(async (flags: NodeFlags & { height?: number }, self: Command) =>
      evidence(context, await proved(context, flags, self)),
    )
  withDirectory(withNode(withOutput(node.command('log'))))
    .description(
      'follow what happens on the chain of the node, a line for each event, until Ctrl-C; a node that goes away is waited for',
    )
    .addOption(new Option('--topic <topics...>', 'what to follow (default: all)').choices([...eventTopics]))
    .option('--from-height <n>', 'begin with the block of this height instead of what comes next', heightOption)
    .option('--ws <url>', 'WebSocket address of the node (default: the one that it names)')
    .addHelpText('after', examples('node log', 'node log --topic block did --from-height 0 --json'))
    .action(async (flags: NodeFlags & { topic?: EventTopic[]; fromHeight?: number; ws?: string }, self: Command) =>
      followLog(context, await proved(context, flags, self)),
    )
  withOwner(withNode(withOutput(node.command('stop'))))
    .description('stop the node, and wait until it has stopped')
    .addHelpText('after', examples('node stop', 'node stop --rest http://192.0.2.7:20334 --token-file admin.token'))
    .action(async (flags: OwnersFlags, self: Command) => stop(context, await located(flags, self)))
  withOwner(withNode(withOutput(node.command('call'))))
    .description('call a JSON-RPC method of the node, and print its result as JSON')
    .argument('<method>', 'a method of docs/json-rpc.md, or of "node call help"')
    .argument('[params...]', 'key=value each, values in order, or one JSON object or array')
    .addHelpText(
      'after',
      examples(
        'node call getblockbyheight height=0',
        'node call setloglevel debug',
        `node call getutxosbyamount '{"address": "EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG", "amount": "2.5"}'`,
      ),
    )
    .action(async (method: string, params: string[], flags: OwnersFlags, self: Command) =>
      call(context, method, params, await located(flags, self)),
    )
}

function withDirectory(command: Command): Command {
  return command.option(
    '--data-dir <directory>',
    'ask the node of this data directory, which has its address and its token',
  )
}

function withOwner(command: Command): Command {
  return withDirectory(command).option(
    '--token-file <file>',
    'file with the token of the owner, for a node on another machine',
  )
}

/** Flags with the address of the node of --data-dir, where there is one. */
async function located<F extends NodeFlags>(flags: F, self: Command): Promise<F> {
  return { ...flags, rest: await restOf(self, flags) }
}

/** The same, for a command that needs no token: the node has proved that the directory is its own. */
async function proved<F extends NodeFlags>(context: CliContext, flags: F, self: Command): Promise<F> {
  const found = await located(flags, self)
  if (flags.dataDir === undefined) return found
  const place = { dataDir: flags.dataDir, hint: 'ask it with --rest URL alone' }
  const { client } = await ownerOf(context, new NodeClient(found), place, `node ${self.name()} of ${flags.dataDir}`)
  return { ...found, rest: client.rest }
}

const peersAnswer = answerOf('the state of the sync', {
  peers: listOf(objectOf({ id: asInteger, address: asText, external: asAny, height: asInteger, name: asText })),
})

async function peers(context: CliContext, flags: NodeFlags): Promise<void> {
  const list = peersAnswer(await new NodeClient(flags).rpc('getsyncstatus', {})).peers.map((peer) => {
    const { id, address, external, height, name } = peer
    return { id, address, direction: external === true ? 'inbound' : 'outbound', height, name }
  })
  report(
    context,
    flags,
    list,
    listLines(['id', 'address', 'direction', 'height', 'name'], list, 'no node is connected'),
  )
}

const asBans = listOf(objectOf({ peer: asText, until: asInteger, reason: asText }))

async function bans(context: CliContext, flags: OwnersFlags): Promise<void> {
  const answer = await callAsOwner(context, new NodeClient(flags), 'listbans', {}, flags)
  const list = asBans(answer, 'the bans').map(({ peer, until, reason }) => {
    return { peer, until: new Date(until * 1000).toISOString().replace('.000', ''), reason }
  })
  report(context, flags, list, listLines(['peer', 'until', 'reason'], list, 'no peer is banned'))
}

const asEvidence = listOf(objectOf({ height: asInteger, view: asInteger, kind: asText, signer: asText }))

async function evidence(context: CliContext, flags: NodeFlags & { height?: number }): Promise<void> {
  const answer = await new NodeClient(flags).rpc('getevidence', defined({ height: flags.height }))
  const at = flags.height === undefined ? '' : ` for height ${flags.height}`
  const none = `the node holds no evidence${at} of a validator that signed twice`
  const lines = listLines(['height', 'view', 'kind', 'signer'], asEvidence(answer, 'the evidence'), none)
  report(context, flags, answer, lines)
}

async function stop(context: CliContext, flags: OwnersFlags): Promise<void> {
  const client = new NodeClient(flags)
  const { dataDir, ...owner } = await ownerOf(context, client, flags, 'stop')
  await owner.client.rpc('stop', {}, owner).catch(async (error: unknown) => {
    // A node that is killed meanwhile ends before its answer is out.
    const mayStop = error instanceof NoAnswer && error.mayHaveArrived
    if (!mayStop || (await answers(client))) throw error
  })
  const latest = performance.now() + stopPatience
  const isOpen = () => dataDir !== undefined && DataDirectory.isOpen(dataDir)
  const endedEarly = dataDir === undefined ? () => false : leftDirectory(dataDir)
  for (;;) {
    const serves = await answers(client)
    if (!serves && !isOpen()) break
    if (!serves && (await endedEarly())) {
      throw new UserError(
        `the node at ${client.rest} was told to stop, and ended without closing ${dataDir}, as after a kill: its next start checks it`,
      )
    }
    if (performance.now() > latest) {
      throw new UserError(`the node at ${client.rest} was told to stop, and has not within ${stopPatience / 1000} s`)
    }
    await setTimeout(stopPause)
  }
  // Without its directory, only its port was looked at.
  const end = dataDir === undefined ? 'was told to stop, and answers no more' : 'has stopped'
  report(context, flags, { stopped: client.rest }, [`The node at ${client.rest} ${end}.`])
}

/** A look that tells whether a directory is marked as open although no process has had its database open for a while. */
function leftDirectory(dataDir: string): () => Promise<boolean> {
  let freeSince: number | undefined
  let looked = -Infinity
  return async () => {
    const now = performance.now()
    if (now - looked < lockPause) return false
    looked = now
    const isFree = DataDirectory.isOpen(dataDir) && (await isLeft(DataDirectory.databaseOf(dataDir)))
    freeSince = isFree ? (freeSince ?? now) : undefined
    return freeSince !== undefined && now - freeSince >= leftAfter && DataDirectory.isOpen(dataDir)
  }
}

async function answers(client: NodeClient): Promise<boolean> {
  try {
    await client.height()
    return true
  } catch (error) {
    if (error instanceof NodeRefusal) return true
    if (error instanceof UserError) return false
    throw error
  }
}

async function call(context: CliContext, method: string, words: readonly string[], flags: OwnersFlags): Promise<void> {
  const result = await callAsOwner(context, new NodeClient(flags), method, callParams(words), flags)
  context.out(`${JSON.stringify(result, null, 2)}\n`)
}

/** A heading of these members, and below it those of each row in equal columns; `none` where there is no row. */
function listLines<K extends string>(
  heading: readonly K[],
  list: readonly Readonly<Record<K, string | number>>[],
  none: string,
): string[] {
  if (list.length === 0) return [none]
  return columnLines([heading, ...list.map((row) => heading.map((name) => visible(String(row[name]))))])
}
