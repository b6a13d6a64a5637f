import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { answerMsMax, decisionOfPeers } from './peer-decisions.ts'
import type { PeerServer } from './peer-servers.ts'

const never = new AbortController().signal

/** Servers by name, with the pieces of their responses; an error is thrown after them. */
function peersOf(answers: Readonly<Record<string, readonly (string | Error)[]>>) {
  const asked: string[] = []
  return {
    asked,
    list: () =>
      Promise.resolve(
        Object.keys(answers).map((name) => ({
          holder: name,
          name,
          origin: name === 'unreachable' ? undefined : `https://${name}`,
        })),
      ),
    async *read({ name }: PeerServer, target: string, signal: AbortSignal) {
      signal.throwIfAborted()
      asked.push(`${name} ${target}`)
      for (const piece of answers[name] ?? []) {
        if (piece instanceof Error) throw piece
        if (piece === 'silence')
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
        yield piece
      }
    },
  }
}

test('the server that knows the decision answers', async () => {
  const notFound = new Error('it answered 404: not found')
  const peers = peersOf({ a: [notFound], b: ['{"pod":', '"default/web"}'], unreachable: [], c: ['silence'] })
  deepEqual(await decisionOfPeers('default/web', peers, new VirtualClock(), never), { pod: 'default/web' })
  const target = '/coxswain/v1/decisions/default/web?own=true'
  deepEqual(peers.asked, [`a ${target}`, `b ${target}`, `c ${target}`])
})

test('a name is a segment of the path, whatever it contains', async () => {
  const peers = peersOf({ a: [new Error('it answered 404')] })
  equal(await decisionOfPeers('x/a b\r\nc?d=#', peers, new VirtualClock(), never), undefined)
  deepEqual(peers.asked, ['a /coxswain/v1/decisions/x/a%20b%0D%0Ac%3Fd%3D%23?own=true'])
})

for (const [name, answers] of [
  ['no other server', {}],
  ['no server that can be reached', { unreachable: ['{}'] }],
  ['servers that are down', { a: [new Error('connect ECONNREFUSED')], b: [new Error('connect ECONNREFUSED')] }],
  ['a response that is no JSON', { a: ['<html>'] }],
] as const)
  test(`there is no decision with ${name}`, async () =>
    equal(await decisionOfPeers('default/web', peersOf(answers), new VirtualClock(), never), undefined))

test('servers that do not answer are not waited for', async () => {
  const clock = new VirtualClock()
  const decision = decisionOfPeers('default/web', peersOf({ a: ['silence'] }), clock, never)
  await clock.advance(answerMsMax)
  equal(await decision, undefined)
})

test('a request that ends is an error', async () => {
  const stop = new AbortController()
  const decision = decisionOfPeers('default/web', peersOf({ a: ['silence'] }), new VirtualClock(), stop.signal)
  stop.abort(new Error('the client has gone'))
  await rejects(decision, /the client has gone/)
})

test('a response is bounded', async () => {
  const piece = 'x'.repeat(1024 * 1024)
  const peers = peersOf({ a: Array.from({ length: 100 }, () => piece) })
  equal(await decisionOfPeers('default/web', peers, new VirtualClock(), never), undefined)
})
