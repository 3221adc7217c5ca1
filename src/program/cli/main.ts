/**
 * Turns a command line into calls of a node, a wallet or a file, and the result into text, JSON and an exit code.
 *
 *   argv -> runCommand -> createProgram (cli-program.ts) -> registerX: one X-command.ts for each group
 *     start, devnet -> readConfig -> openLog -> runNode -> startNode, serve, watchNode -> stop signal -> close
 *     wallet, did   -> keystore, NodeClient -> build, sign -> broadcast -> wait for the block
 *     chain         -> rows and block files of a data directory that no node uses
 *     node          -> a running node: readyz, JSON-RPC with the owner's token, events over WebSocket
 *     did prove     -> NodeClient -> makeBundle; did verify -> LightResolver.verifyBundle, without a node
 *     driver        -> HttpResolver -> openDriver, over a node elsewhere
 *     light         -> LightResolver -> openLightServer, over untrusted nodes
 *     serve-static  -> openStaticServer, over the folder of a mirror
 *     genesis       -> chain specs and keys in files
 *     completion    -> the command tree as a script for a shell
 *     -> print-output: text or --json; failure -> explain -> standard error
 *
 * Imports every room below it except did-query, did-index, events, network, production, prover, resolver, heads, standing and explorer; used by no room.
 * - Exit code 0 done, 1 failed, 2 wrong call; with --json standard error holds only the JSON of a failure.
 * - Clock, randomness, environment and output come from CliContext, so that tests own them.
 */
import { UserError } from '../../base/errors/rule-error.js'
import { sendBy } from '../../clients/client/http.js'
import { fileReason } from '../../clients/wallet/files.js'
import { endAfterErrors, endWithOutput } from '../console/output-channel.js'
import { lineThroughDoor } from '../console/door.js'
import { processSurroundings } from './cli-context.js'
import { runCommand, sayFailure } from './cli-program.js'
import { sendToLoopback } from './loopback-send.js'

const args = process.argv.slice(2)
const surroundings = processSurroundings()
endWithOutput((error) => {
  sayFailure(new UserError(`standard output cannot be written: ${fileReason(error)}`), args, surroundings)
})
// Node would print failures that no code waits for, and warnings, as they are.
process.on('uncaughtException', (error) => {
  sayFailure(error, args, surroundings)
  endAfterErrors(1)
})
// Node ends a process in which nothing is left to happen, with code 0 and without a word, though a command may still wait.
let isWaiting = true
process.once('beforeExit', () => {
  if (!isWaiting) return
  sayFailure(new Error('the command waits for what can no longer happen'), args, surroundings)
  process.exitCode = 1
})
if (process.listenerCount('warning') > 0) {
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => surroundings.err(lineThroughDoor(`${name}: ${message}`)))
}

sendBy(sendToLoopback)
// Bundled into CommonJS, which has no `await` here.
void runCommand(args, surroundings).then((code) => {
  isWaiting = false
  process.exitCode = code
})
