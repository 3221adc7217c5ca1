import { proposalTopic, votesExchange, voteTopic } from '../../src/network/wire/votes-message.js'
import type { Agenda } from './clock.js'
import type { SimulatedNode } from './node.js'
import type { Chance } from '../support/builders/chance.js'
import { everySide, type Partition, type Scenario, type Storm } from './scenario.js'
import { fairWeather, type MemoryNetwork, type Weather } from '../support/network/memory-network.js'

const voting = new Set([proposalTopic.topic.name, voteTopic.topic.name, votesExchange.protocol.name])

/** What goes wrong in a simulation, at the times that its scenario gives. */
export class Turmoil {
  readonly #scenario: Scenario
  readonly #agenda: Agenda
  readonly #chance: Chance
  readonly #network: MemoryNetwork
  readonly #nodes: readonly SimulatedNode[]
  readonly #tell: (line: string) => void
  /** The side that each node is on, while the wires are parted. */
  #sides: readonly number[] | undefined
  /** Rises when a storm ends: what was planned for it does not happen any more. */
  #number = 0
  storm: Storm | undefined

  constructor(parts: {
    readonly scenario: Scenario
    readonly agenda: Agenda
    readonly chance: Chance
    readonly network: MemoryNetwork
    readonly nodes: readonly SimulatedNode[]
    readonly tell: (line: string) => void
  }) {
    this.#scenario = parts.scenario
    this.#agenda = parts.agenda
    this.#chance = parts.chance
    this.#network = parts.network
    this.#nodes = parts.nodes
    this.#tell = parts.tell
    this.#set({ ...fairWeather, delay: parts.scenario.calm })
    this.#network.weather.passes = (from, to) => this.#sides === undefined || meet(this.#sides, from, to)
  }

  begin(storm: Storm): void {
    this.storm = storm
    const { delay, loss, muffled, duplication } = storm
    this.#tell(
      `storm for ${storm.length} ms: delay to ${delay[1]}, loss ${loss}, muffled ${muffled}, duplication ${duplication}`,
    )
    this.#set({ delay, loss: (name) => (voting.has(name) ? Math.max(loss, muffled) : loss), duplication })
    for (const partition of storm.partitions) {
      this.#during(partition.from, () => this.#part(partition))
      this.#during(partition.until, () => this.#join())
    }
    for (let second = 1; second * 1000 < storm.length; second++) this.#during(second * 1000, () => this.#second(storm))
  }

  /** Everything is mended, and whoever is down starts. */
  end(): void {
    this.#tell('calm')
    this.storm = undefined
    this.#number++
    this.#join()
    this.#set({ ...fairWeather, delay: this.#scenario.calm })
    for (const node of this.#nodes) node.start()
  }

  #set(weather: Omit<Weather, 'passes'>): void {
    Object.assign(this.#network.weather, weather)
  }

  #during(milliseconds: number, act: () => void): void {
    const number = this.#number
    this.#agenda.after(milliseconds, () => {
      if (number === this.#number) act()
    })
  }

  #part({ sides, breaks }: Partition): void {
    this.#tell(`parted ${sides.join('')}${breaks ? ', connections end' : ''}`)
    this.#sides = sides
    if (!breaks) return
    for (const node of this.#nodes) {
      for (const link of [...this.#network.links(node.number)]) {
        if (!meet(sides, link.far.node, node.number)) link.cut()
      }
    }
  }

  #join(): void {
    if (this.#sides !== undefined) this.#tell('joined')
    this.#sides = undefined
  }

  #second({ breaks, stops }: Storm): void {
    if (this.#chance.happens(breaks)) {
      const links = this.#network.links(this.#chance.pick(this.#nodes).number)
      if (links.length > 0) this.#chance.pick(links).cut()
    }
    if (this.#chance.happens(stops)) this.#chance.pick(this.#nodes).stop()
  }
}

function meet(sides: readonly number[], one: number, other: number): boolean {
  return sides[one] === sides[other] || sides[one] === everySide || sides[other] === everySide
}
