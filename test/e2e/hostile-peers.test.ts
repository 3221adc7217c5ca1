import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { callRpc } from '../../src/client/rpc.js'
import type { Link } from '../../src/network/link.js'
import { headersExchange, type HeaderUnit } from '../../src/network/wire/headers.js'
import { statusExchange } from '../../src/network/wire/status.js'
import { TestChain, withoutValidators } from '../support/chain.js'
import { HostilePeer, Probe, type Seen } from '../support/hostile-peer.js'
import { until } from '../support/network.js'
import { Directories, NodeProcess } from '../support/process.js'
import { testSpec } from '../support/spec.js'
import { statusOf } from '../support/sync.js'

const directories = new Directories()
let source: TestChain
let courier: HostilePeer
let honest: NodeProcess
let victim: NodeProcess
let genesis: string
