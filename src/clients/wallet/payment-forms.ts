import { UserError } from '../../base/errors/rule-error.js'
import { isObject } from '../../base/primitives/is-object.js'
import { type MemberCheck, requireMember, requireOptions } from '../../base/primitives/known-members.js'
import type { ProgramHash } from '../../base/primitives/address.js'

/** Refuses payments of callers that ignore types: a {@link UserError} names the member. */

type Checks = Readonly<Record<string, MemberCheck>>

const amount: MemberCheck = ['a bigint from 0 on', isAmount]
const whole: MemberCheck = ['a whole number from 0 on', isWhole]
const height: MemberCheck = ['a height', (value) => isWhole(value) && (value as number) <= 0xffffffff]
const flag: MemberCheck = ['true or false', (value) => typeof value === 'boolean']
const list: MemberCheck = ['a list', Array.isArray]
const hash: MemberCheck = ['a hash of 32 bytes', (value) => isBytes(value, 32)]
const address: MemberCheck = ['the result of parseAddress', (value) => isBytes(value, 21)]

const neededOfPayment: Checks = {
  code: ['bytes', (value) => isBytes(value)],
  coins: list,
  fee: ['a bigint from 0 on, or prices,', (value) => isAmount(value) || isPrices(value)],
  assetId: hash,
  maxMoney: amount,
  random: ['an object', isObject],
}
const termsOfPayment: Checks = { lockTime: height, height, feeFromAmount: flag }
const neededOfCoin: Checks = { txid: hash, index: whole, value: amount }
const locksOfCoin: Checks = { outputLock: height, confirmations: whole }
const neededOfRecipient: Checks = {
  programHash: address,
  value: ["a bigint or 'all'", (value) => value === 'all' || typeof value === 'bigint'],
}
const lockOfRecipient: Checks = { outputLock: height }
/** Outputs of a transaction are taken too: what is the chain's of them is not looked at. */
const membersOfRecipient = [...Object.keys({ ...neededOfRecipient, ...lockOfRecipient }), 'assetId', 'extra']

/** It may have other members too. */
export function requirePayment(payment: { readonly coins: readonly unknown[] }): void {
  requireForms('the payment', payment, neededOfPayment, termsOfPayment)
  for (const [i, coin] of payment.coins.entries()) requireForms(`coins[${i}]`, coin, neededOfCoin, locksOfCoin)
}

export function requireRecipients(recipients: readonly unknown[]): void {
  requireForms('the transfer', { recipients }, { recipients: list })
  for (const [i, recipient] of recipients.entries()) {
    const where = `recipients[${i}]`
    requireOptions(where, recipient, membersOfRecipient)
    requireForms(where, recipient, neededOfRecipient, lockOfRecipient)
  }
}

export function requireMarker(did: ProgramHash | undefined): void {
  requireForms('the transaction', { did }, {}, { did: address })
}

/** A replacement needs to know the least fee: of its payment an amount is no fee. */
export function requireReplacement(payment: object, options: object): void {
  requireForms('the payment', payment, { fee: ['prices', isPrices] })
  const checks: Checks = { cancel: flag, fee: amount, feeRate: whole }
  requireOptions('buildReplacement', options, Object.keys(checks))
  requireForms('buildReplacement', options, {}, checks)
}

function requireForms(where: string, given: unknown, needed: Checks, optional: Checks = {}): void {
  if (!isObject(given)) throw new UserError(`${where} needs an object with ${Object.keys(needed).join(', ')}`)
  for (const [name, check] of Object.entries(needed)) requireMember(where, given, name, { check, needed: true })
  for (const [name, check] of Object.entries(optional)) requireMember(where, given, name, { check, needed: false })
}

function isPrices(value: unknown): boolean {
  if (!isObject(value)) return false
  const { minimum, perByte, floor = 0 } = value
  return isAmount(minimum) && isAmount(perByte) && isWhole(floor)
}

function isAmount(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isBytes(value: unknown, length?: number): boolean {
  return value instanceof Uint8Array && (length === undefined || value.length === length)
}
