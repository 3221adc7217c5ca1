import { EventEmitter } from 'node:events'
import { NodeMetrics } from '../../src/api/metrics.js'
import { plainRoutes } from '../../src/api/plain-routes.js'
import type { Chain } from '../../src/chain/chain.js'
import type { Mempool } from '../../src/mempool/mempool.js'

/** docs/monitoring.md: health, readiness and every metric. */
export function monitoringPage(): string {
  const rows = describedMetrics().map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  const paths = plainRoutes.map(({ path, summary }) => `| \`${path}\` | ${summary} |`)
  return `# Monitoring

Generated from \`src/api\` by \`npm run docs\`.

These paths are on the port of REST, outside of \`/api/v1\`. They match exactly and take GET and HEAD. They are as public as REST: on
loopback, unless \`api.host\` says otherwise ([configuration.md](configuration.md)). Beyond it they show every client how much the
node has to do, so let only your own machines through.

| path | what it tells |
|---|---|
${paths.join('\n')}

## Health

\`/healthz\` answers 200 \`{"status":"ok"}\` as long as the process serves and the chain can go on. After a failed write or a broken
invariant it answers 503 \`{"status":"failed", "reason"}\`: start the process again.

\`/readyz\` answers 200 with \`status\` \`ready\`, or 503 with another one and a \`reason\`; then send requests elsewhere, but leave the
process alone. \`height\` and \`time\` (Unix seconds) are of the tip, \`target\` is the height of the best tip that is proved.

\`refusedBlocks\` counts the blocks that the node made itself since its start and that its own chain refused. It tries again at once
without the transaction that was the cause, so the status does not change; but each is a defect worth a report, with the warning in the log. Until
a block of that height is on the chain, \`refusedBlock\` says why.

| status | HTTP | when |
|---|---|---|
| \`ready\` | 200 | the node knows the chain and answers |
| \`starting\` | 503 | not all of its ports are open yet |
| \`catching up\` | 503 | others have proved a tip that it does not have, or it has nothing but genesis and has reached none of its peers; the resolver refuses to answer |
| \`alarm\` | 503 | the validators have confirmed two blocks at one height: a person has to find out why ([network.md](network.md)) |
| \`stopping\` | 503 | it was told to stop and finishes what is under way |
| \`failed\` | 503 | as \`/healthz\` says |

## Metrics

\`/metrics\` answers in the text format of Prometheus, version 0.0.4. Every name ends in its unit; counters end in \`_total\`, and what
is counted stands before. Each node of a process has figures of its own, except for those that begin with \`process_\` and \`nodejs_\`.
Counters begin at 0 when the node starts.

Labels have few values: \`path\` is the pattern of a route, such as \`/api/v1/block/hash/:height\`; \`method\` is a JSON-RPC method that exists;
everything else is \`other\`. \`status\` is the HTTP status of a request, and \`ok\` or the error code of a JSON-RPC call.

| name | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

/** Every metric of a node without a chain: names do not depend on one. */
export function describedMetrics(): ReturnType<NodeMetrics['describe']> {
  const chain = { events: new EventEmitter() as Chain['events'], tip: undefined as unknown as Chain['tip'] }
  const mempool = {
    events: new EventEmitter() as Mempool['events'],
    ...{ size: 0, bytes: 0, refusedBlocks: { count: 0 } },
  }
  return new NodeMetrics({
    chain,
    mempool,
    resolver: { scannedDocuments: 0 },
    version: '',
    databaseBytes: async () => 0,
  }).describe()
}
