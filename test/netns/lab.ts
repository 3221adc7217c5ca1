import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startChild } from '../support/process/children.js'

/**
 * Machines of a network of their own: Linux network namespaces with a cable each into one switch, which can be cut into
 * parts, and slowed down. It must run in a network namespace that it may change (`unshare --map-root-user --net`).
 */

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** A machine of the lab. */
export interface Machine {
  /** Its address to the others. */
  readonly address: string
  /** Its address to the test. */
  readonly management: string
  /** What runs a command there: to be put before it. */
  readonly through: readonly string[]
}

interface Cabled extends Machine {
  /** The ends of its cables at the switch and at the test. */
  readonly port: string
  readonly manage: string
  readonly holder: ChildProcess
}

export class Lab {
  readonly machines: readonly Machine[]
  readonly #machines: readonly Cabled[]
  #slow: ChildProcess | undefined

  private constructor(machines: readonly Cabled[]) {
    this.#machines = machines
    this.machines = machines
  }

  /** Lays cables to `count` machines. */
  static async open(count: number): Promise<Lab> {
    ip('link', 'set', 'lo', 'up')
    const machines: Cabled[] = []
    for (let i = 1; i <= count; i++) machines.push(await machine(i))
    const lab = new Lab(machines)
    lab.join(machines.map((_, i) => i))
    return lab
  }

  /** Leaves the machines of each group in reach of each other, and of nobody else. Who is in no group is alone. */
  join(...groups: readonly (readonly number[])[]): void {
    this.#endSlowness()
    for (const { port } of this.#machines) ip('link', 'set', port, 'nomaster')
    groups.forEach((group, i) => {
      bridge(`part${i}`)
      for (const index of group) ip('link', 'set', this.#at(index).port, 'master', `part${i}`)
    })
  }

  /** From now on every frame takes so many milliseconds, and of a hundred so many are lost. */
  async slowDown(milliseconds: number, lossPercent: number): Promise<void> {
    for (const { port } of this.#machines) ip('link', 'set', port, 'nomaster')
    const ports = this.#machines.map(({ port }) => port)
    const args = [here('slow-switch.py'), String(milliseconds), String(lossPercent), '1', ...ports]
    this.#slow = startChild('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(this.#slow.stdout as NodeJS.ReadableStream, 'data')
  }

  /** Sends echo requests from one machine to another: how many are answered, and the milliseconds of the fastest. */
  ping(from: number, to: number, count: number): { readonly received: number; readonly fastest: number } {
    const said = run([...this.#at(from).through, 'python3', here('ping.py'), this.#at(to).address, String(count)])
    return JSON.parse(said) as { received: number; fastest: number }
  }

  close(): void {
    this.#endSlowness()
    for (const { holder, port, manage } of this.#machines) {
      // A namespace ends some time after its last process, and until then its cables keep their names.
      for (const cable of [port, manage]) ip('link', 'delete', cable)
      holder.kill('SIGKILL')
    }
  }

  #endSlowness(): void {
    this.#slow?.kill('SIGKILL')
    this.#slow = undefined
  }

  #at(index: number): Cabled {
    const found = this.#machines[index]
    if (found === undefined) throw new Error(`there is no machine ${index}`)
    return found
  }
}

async function machine(number: number): Promise<Cabled> {
  const holder = startChild('unshare', ['--net', 'sh', '-c', 'echo there; exec sleep 100000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout as NodeJS.ReadableStream, 'data')
  const through = ['nsenter', '--target', String(holder.pid), '--net']
  const inside = (...command: string[]) => run([...through, ...command])
  const cable = (name: string, near: string, address: string) => {
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', near)
    ip('link', 'set', name, 'netns', String(holder.pid))
    inside('ip', 'address', 'add', `${address}/24`, 'dev', name)
    inside('ip', 'link', 'set', name, 'up')
    ip('link', 'set', near, 'up')
    run(['python3', here('offload.py'), near])
    inside('python3', here('offload.py'), name)
  }
  inside('ip', 'link', 'set', 'lo', 'up')
  const address = `10.0.0.${number}`
  const management = `10.1.${number}.2`
  cable('net', `net${number}`, address)
  cable('manage', `manage${number}`, management)
  ip('address', 'add', `10.1.${number}.1/24`, 'dev', `manage${number}`)
  return { address, management, through, port: `net${number}`, manage: `manage${number}`, holder }
}

function bridge(name: string): void {
  try {
    ip('link', 'show', name)
  } catch {
    ip('link', 'add', name, 'type', 'bridge')
    ip('link', 'set', name, 'up')
  }
}

function ip(...args: string[]): void {
  run(['ip', ...args])
}

function run([command, ...args]: readonly string[]): string {
  return execFileSync(command as string, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
}
