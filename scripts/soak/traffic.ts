/**
 * Everybody else: `traffic.ts`, forked by soak.ts, which tells it where to work. Transactions go to all nodes in turn; clients
 * of REST, JSON-RPC and WebSocket come to the first one and go. It says how much of each it did.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { holder } from '../../test/support/did.js'
import { genesisBlock, parseSpec, registerAssetTransaction } from '../bench/dist.js'
import { type Payer, selfTransfer, spendGenesis } from '../bench/load.js'
import { type Places, send } from '../bench/local-nodes.js'
import { payersOf } from './payers.js'
