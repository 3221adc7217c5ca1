import { connect, type Socket } from 'node:net'
import fc from 'fast-check'

/** JSON texts that an attacker, or a broken program, may send in place of a value; not always valid JSON. */
export const nasty: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1.5', '1e400', '-1e400', '9007199254740993', '4294967296', '1e21'],
  ...['""', '" "', '"\\u0000"', '"\\ud800"', '"null"', '"-1"', '"1.000000001"', '"0x10"', '"../../etc/passwd"'],
  ...['[]', '{}', '[[]]', '[{}]', '[null]', '{"__proto__":{"x":1}}', '{"constructor":{"prototype":{"x":1}}}'],
  ...['{"$where":"1"}', '{"toString":1}', '{"then":1}', '{"length":-1}', '{"0":0}'],
  `"${'f'.repeat(63)}"`,
  `"${'f'.repeat(64)}"`,
  `"${'f'.repeat(65)}"`,
  `"${'E'.repeat(34)}"`,
  `"did:ledger:${'i'.repeat(34)}"`,
  `"${'A'.repeat(100_000)}"`,
  `"${'00'.repeat(200_000)}"`,
  `"${'\\u0000'.repeat(10_000)}"`,
  `"${'{'.repeat(20_000)}"`,
  `"${'{a:'.repeat(5000)}"`,
  `"${'['.repeat(5000)}${']'.repeat(5000)}"`,
  `[${'0,'.repeat(9999)}0]`,
  `[${'"E"'.concat(',"E"'.repeat(9999))}]`,
  `{${Array.from({ length: 2000 }, (_, i) => `"m${i}":${i}`).join(',')}}`,
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `${'{"a":'.repeat(10_000)}0${'}'.repeat(10_000)}`,
]

/** Random JSON texts, the same for the same seed. */
export function randomJson(count: number, seed: number): string[] {
  return fc.sample(fc.jsonValue({ maxDepth: 4 }), { numRuns: count, seed }).map((value) => JSON.stringify(value))
}

/** A socket that sends some bytes and then keeps still, reading nothing; from one of the addresses of this machine. */
export function leave(port: number, bytes: string, localAddress?: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const to = { port, host: '127.0.0.1', localAddress }
    const socket = connect(to, () => socket.write(bytes, () => resolve(socket.pause())))
    socket.on('error', (error) => (socket.connecting ? reject(error) : undefined))
  })
}

/** A socket that sends one byte of a text at a time; ends when it is destroyed. */
export async function dribble(
  port: number,
  text: string,
  milliseconds: number,
  localAddress?: string,
): Promise<Socket> {
  const socket = await leave(port, text.slice(0, 1), localAddress)
  let sent = 1
  const timer = setInterval(() => (sent < text.length ? socket.write(text.charAt(sent++)) : undefined), milliseconds)
  socket.on('close', () => clearInterval(timer))
  return socket
}
