import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../base/async/event-loop-turn.ts'
import { BytePipe, byteStreamPair, copyStream, joinStreams } from './byte-pipe.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = async (pieces: AsyncIterable<Uint8Array>) => {
  const decoder = new TextDecoder()
  let whole = ''
  for await (const piece of pieces) whole += decoder.decode(piece, { stream: true })
  return whole
}

test('bytes are read in order, then the end', async () => {
  const pipe = new BytePipe(100)
  await pipe.write(bytes('one '))
  await pipe.write(bytes('two'))
  pipe.end()
  await pipe.write(bytes('too late'))
  equal(await text(pipe.read()), 'one two')
})

test('a writer waits for a slow reader, but not for one that stopped reading', async () => {
  const pipe = new BytePipe(3)
  const events: string[] = []
  const writing = pipe.write(bytes('1234')).then(() => events.push('written'))
  await eventLoopTurn()
  deepEqual(events, [])
  const reader = pipe.read()
  equal((await reader.next()).value?.length, 4)
  await writing
  deepEqual(events, ['written'])
  await reader.return()
  await pipe.write(bytes('dropped, however long'))
})

test('joined streams forward bytes in both directions and end together', async () => {
  const [client, near] = byteStreamPair(10)
  const [far, server] = byteStreamPair(10)
  const joined = joinStreams(near, far)
  await client.write(bytes('ask'))
  const echo = copyStream(server.pieces, server)
  const reader = client.pieces[Symbol.asyncIterator]()
  equal(new TextDecoder().decode((await reader.next()).value as Uint8Array), 'ask')
  client.end()
  await joined
  await echo
  equal((await reader.next()).done, true)
})

test('destroying one side ends the other', async () => {
  const [client, near] = byteStreamPair(10)
  const [far, server] = byteStreamPair(10)
  const joined = joinStreams(near, far)
  server.destroy()
  client.destroy()
  await joined
  equal(await text(server.pieces), '')
})
