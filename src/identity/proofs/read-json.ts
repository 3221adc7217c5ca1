import { decodeBase64url, isBase64url } from '../did/base64url.js'
import { fromHex, parseDisplayHash } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Header, headerSize } from '../../base/primitives/header.js'
import { fail } from './proof-failure.js'

/** Readers of what was sent as JSON: a missing or ill-typed member is `form`, an unknown one is ignored. */

export type Members = Readonly<Record<string, unknown>>

export function members(sent: unknown, what: string): Members {
  if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent as Members
  return fail('form', `${what} is no object`)
}

export function text(sent: unknown): string {
  return typeof sent === 'string' ? sent : fail('form', 'a text is missing')
}

export function optionalText(sent: unknown): string | undefined {
  return sent === undefined ? undefined : text(sent)
}

export function number(sent: unknown): number {
  return typeof sent === 'number' ? sent : fail('form', 'a number is missing')
}

/** A whole number from 0 to 2^32 - 1. */
export function whole(sent: unknown): number {
  const value = number(sent)
  return Number.isInteger(value) && value >= 0 && value <= 0xffffffff ? value : fail('form', `the number ${value}`)
}

export function flag(sent: unknown): boolean {
  return typeof sent === 'boolean' ? sent : fail('form', 'true or false is missing')
}

/** A list of at most so many elements. */
export function list(sent: unknown, most: number): readonly unknown[] {
  if (!Array.isArray(sent)) return fail('form', 'a list is missing')
  return sent.length <= most ? (sent as unknown[]) : fail('form', `${sent.length} elements, at most ${most}`)
}

/** The name of a format. */
export function requireFormat(sent: unknown, format: string): void {
  if (sent !== format) fail('form', `the format is not ${format}`)
}

/** Base64url text, not decoded; it may be empty. */
export function base64(sent: unknown): string {
  const value = text(sent)
  return value === '' || isBase64url(value) ? value : fail('form', 'a text is no base64url')
}

/** The bytes of text that {@link base64} accepts; undefined for more than so many. */
export function bytesOf(value: string, most: number): Uint8Array | undefined {
  if (value.length > Math.ceil((most * 4) / 3)) return undefined
  return value === '' ? new Uint8Array(0) : decodeBase64url(value)
}

/** The header of text that {@link base64} accepts; undefined for another size. */
export function headerText(value: string): Header | undefined {
  const bytes = bytesOf(value, headerSize)
  return bytes?.length === headerSize ? Header.read(new Reader(bytes)) : undefined
}

/** A header of 84 bytes in hex. */
export function headerHex(sent: unknown): Header {
  return Header.read(new Reader(fromHex(hexText(sent, headerSize)) as Uint8Array))
}

/** 32 bytes of lowercase hex, in that order. */
export function hashText(sent: unknown): Hash {
  return fromHex(hexText(sent, 32)) as Hash
}

/** A hash in display hex, in internal order. */
export function displayHashText(sent: unknown): Hash {
  return parseDisplayHash(hexText(sent, 32)) as Hash
}

/** Lowercase hex of so many bytes. */
export function hexText(sent: unknown, size: number): string {
  const value = text(sent)
  return value.length === 2 * size && /^[0-9a-f]+$/.test(value) ? value : fail('form', `no hex of ${size} bytes`)
}
