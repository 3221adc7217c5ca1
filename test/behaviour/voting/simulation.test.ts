import { expect, test } from 'vitest'
import { rounds } from '../../support/process/thorough.js'
import { VotingSimulation } from '../../support/network/voting-simulation.js'

const seeds = rounds(200, 1500)
const disturbances = 250

test(`${seeds} heights of 1 to 7 validators, up to f of them liars, confirm one block each`, () => {
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      const simulation = new VotingSimulation(seed)
      if (seed % 3 === 0) simulation.ambush()
      for (let i = 0; i < disturbances; i++) simulation.disturb()
      simulation.haunt(6)
      const { views } = simulation
      expect(simulation.settle(views), `a block within ${views} views once messages arrive`).toBe(true)
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
})
