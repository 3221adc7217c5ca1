import { randomBytes } from 'node:crypto'
import { isatty } from 'node:tty'
import { type Channel, columnsOf, deliver, standardError, writeBytes, writeTo } from '../console/output-channel.js'
import { type Pieces, type ShownText, throughDoor } from '../console/door.js'
import type { Clock, Random } from '../../base/runtime/env.js'
import { hiddenPrompt } from './prompt.js'

interface Surroundings<Text, Question> {
  readonly clock: Clock
  readonly random: Random
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes to standard output. */
  readonly out: (text: Text) => void
  /** Writes to standard output; resolves once it has taken all, and rejects where it takes nothing: the caller says so. */
  readonly deliver: (text: Text) => Promise<void>
  /** Writes bytes that are no text to standard output; resolves once it takes more. */
  readonly bytes: (bytes: Uint8Array) => Promise<void>
  /** Writes to standard error. */
  readonly err: (text: Text) => void
  /** Width of the terminal behind standard output or standard error; undefined if it is not a terminal. */
  readonly columns: (stream: 'out' | 'err') => number | undefined
  /** Opens standard error for lines that wait for no reader; absent: {@link err} takes them. */
  readonly errors: () => Channel
  /** Prompts on the terminal without echo; undefined without a terminal. */
  readonly prompt: ((question: Question) => Promise<string>) | undefined
}

/** The environment of the commands. All that they write goes through the door: any text, and marks of the program. */
export type CliContext = Surroundings<Pieces, string>

type Outside = Surroundings<ShownText, ShownText>
type Absent = 'deliver' | 'bytes' | 'columns' | 'errors'
/** The surroundings of the commands; tests pass their own. Text that they write has gone through the door. */
export type EvaluationContext = Omit<Outside, Absent> & Partial<Pick<Outside, Absent>>

/** EvaluationContext of a real process. */
export function processSurroundings(): EvaluationContext {
  return {
    clock: Date,
    random: { bytes: (length) => randomBytes(length) },
    env: process.env,
    out: (text) => writeTo('out', text),
    deliver,
    err: (text) => writeTo('err', text),
    columns: columnsOf,
    errors: standardError,
    // To ask the stream would make it, which takes longer than the rest of this.
    prompt: isatty(0) ? hiddenPrompt(() => process.stdin) : undefined,
  }
}

/** An environment without its empty variables: that is how services and containers write those that are not set. */
export function setVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
}

/** Puts the door between the commands and what is around them. */
export function contextIn(surroundings: EvaluationContext): CliContext {
  const { clock, random, env, out, err, prompt, columns = () => undefined } = surroundings
  return {
    clock,
    random,
    env: setVariables(env),
    out: (text) => out(throughDoor(text)),
    deliver: async (text) => (surroundings.deliver ?? out)(throughDoor(text)),
    bytes: surroundings.bytes ?? writeBytes,
    err: (text) => err(throughDoor(text)),
    columns,
    errors: surroundings.errors ?? (() => channelOf(err, columns)),
    prompt: prompt && ((question) => prompt(throughDoor(question))),
  }
}

/** Standard error for lines, by a function that takes every text at once. */
function channelOf(err: EvaluationContext['err'], columns: CliContext['columns']): Channel {
  return {
    write: (text) => {
      err(text)
      return true
    },
    get columns() {
      return columns('err')
    },
    close: () => {},
  }
}
