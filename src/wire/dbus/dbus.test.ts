import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { BytePipe } from '../byte-pipe.ts'
import { DbusConnection } from './dbus-connection.ts'
import { decodeMessage, encodeMessage, messageBytes, type DbusMessage } from './dbus-message.ts'

const hello: DbusMessage = {
  kind: 'call',
  serial: 1,
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
  member: 'Hello',
  destination: 'org.freedesktop.DBus',
  body: [],
}
/** By the layout of the specification: a header of 16 bytes, then fields at multiples of 8. */
const helloHex =
  '6c01000100000000010000006d000000' +
  '01016f00150000002f6f72672f667265656465736b746f702f44427573000000' +
  '02017300140000006f72672e667265656465736b746f702e4442757300000000' +
  '030173000500000048656c6c6f000000' +
  '06017300140000006f72672e667265656465736b746f702e4442757300000000'

test('a greeting is written as the specification lays it out', () => {
  equal(encodeMessage(hello).toHex(), helloHex)
  deepEqual(decodeMessage(Uint8Array.fromHex(helloHex)), hello)
})

test('values of every known type are read as they were written, and others are left alone', () => {
  const body = [7, true, -5, 4_000_000_000, -6n, 1n << 63n, 'text', '/path', 'ss', 'inner']
  const message: DbusMessage = { kind: 'signal', serial: 3, signature: 'ybiuxtsogv', body }
  const bytes = encodeMessage(message)
  equal(messageBytes(bytes), bytes.length)
  deepEqual(decodeMessage(bytes), message)
  const unread = encodeMessage({ ...message, signature: 's', body: ['x'] })
  // The signature, changed to that of an array.
  unread[unread.indexOf('s'.charCodeAt(0), 20)] = 'a'.charCodeAt(0)
  deepEqual(decodeMessage(unread).body, [])
})

test('what is no message is refused, and half of one is waited for', () => {
  equal(messageBytes(Uint8Array.fromHex(helloHex.slice(0, 20))), undefined)
  throws(() => messageBytes(new Uint8Array(16).fill(0xff)), /too large/)
  throws(() => decodeMessage(Uint8Array.fromHex(`6c09${'00'.repeat(20)}`)), /unknown type/)
})

test('one who is not believed, and one whose question is refused, hear why', async () => {
  const never = new AbortController().signal
  const speaking = (says: (heard: string) => Uint8Array | undefined) => {
    const pipe = new BytePipe(1 << 16)
    return {
      pieces: pipe.read(),
      async write(piece: Uint8Array) {
        const said = says(new TextDecoder('latin1').decode(piece))
        if (said !== undefined) await pipe.write(said)
      },
      end: () => pipe.end(),
      destroy: () => pipe.end(),
    }
  }
  const text = (line: string) => new TextEncoder().encode(line)
  const refusing = speaking(() => text('REJECTED EXTERNAL\r\n'))
  await rejects(
    DbusConnection.open(refusing, 0, () => {}, never),
    /rejected the authentication: REJECTED/,
  )
  let serial = 0
  const stream = speaking((heard) => {
    if (heard.startsWith('\0')) return text('OK 1\r\n')
    if (heard === 'BEGIN\r\n') return undefined
    const answer = { serial: 9, replyTo: ++serial, signature: 's' } as const
    return serial === 1
      ? encodeMessage({ kind: 'answer', ...answer, body: [':1.1'] })
      : encodeMessage({ kind: 'error', ...answer, errorName: 'org.example.No', body: ['not for you'] })
  })
  const bus = await DbusConnection.open(stream, 0, () => {}, never)
  await rejects(bus.addMatch('type=signal', never), /org\.example\.No: not for you/)
  const waiting = rejects(bus.call({ ...hello, destination: '', path: '', interface: '', member: '' }, never))
  bus.close()
  await bus.closed
  await waiting
})
