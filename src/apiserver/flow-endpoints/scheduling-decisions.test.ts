// Queries about scheduling decisions: which schedulers get them, whose response is used, and what happens without a
// response.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { decisionQueriesPath, decisionsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { ApiResponse } from '../request/response.ts'
import { SchedulingDecisions } from './scheduling-decisions.ts'
import { userWithName, type ApiRequest } from '../request/request.ts'

const own = { pod: 'default/own' }

function newDecisions() {
  const clock = new VirtualClock()
  const elsewhere = (pod: string) => Promise.resolve(pod === 'default/other' ? { pod } : undefined)
  const decisions = new SchedulingDecisions((pod) => (pod === 'default/own' ? own : undefined), elsewhere, clock)
  const call = (verb: 'get' | 'post', path: string, value?: unknown, signal = new AbortController().signal) => {
    const user = userWithName('system:kube-scheduler')
    const [pathname = '', parameters] = path.split('?')
    const request: ApiRequest = {
      context: context(signal),
      credentials: { kind: 'asserted', user },
      user,
      sender: 'x',
      agent: 'x',
      target: { kind: 'path', verb, path: pathname, accept: '' },
      query: new URLSearchParams(parameters),
      body: value === undefined ? { kind: 'none' } : { kind: 'value', value },
    }
    return decisions.handle(request)
  }
  const follow = async (signal?: AbortSignal) => {
    const lines = textsOf(await call('get', decisionQueriesPath, undefined, signal))
    equal((await lines.next()).value, '\n')
    return async () => JSON.parse(String((await lines.next()).value)) as { id: number; pod: string }
  }
  const ask = (pod: string) => call('get', decisionsPath + pod)
  const respond = (id: unknown, explanation: unknown) => call('post', decisionQueriesPath, { id, explanation })
  return { clock, call, follow, ask, respond }
}

function textsOf(answer: ApiResponse): AsyncIterator<unknown> {
  if (answer.kind !== 'wire' || typeof answer.response.body !== 'object') throw new Error('this is no stream')
  return (answer.response.body as AsyncIterable<unknown>)[Symbol.asyncIterator]()
}

const valueOf = async (answer: Promise<ApiResponse>) => {
  const response = await answer
  return response.kind === 'json' ? response.value : response.kind
}

test('a decision of the scheduler of this process is not queried elsewhere', async () => {
  deepEqual(await valueOf(newDecisions().ask('default/own')), own)
})

test('a scheduler of another process is queried, and its response returned', async () => {
  const { follow, ask, respond } = newDecisions()
  const one = await follow()
  const two = await follow()
  const answer = valueOf(ask('default/a'))
  const question = await one()
  deepEqual(await two(), question)
  equal(question.pod, 'default/a')
  await respond(question.id, null)
  await respond(question.id, { nodeName: 'n' })
  deepEqual(await answer, { nodeName: 'n' })
  await respond(question.id, { nodeName: 'late' })
})

test('an unknown decision is not found: at once when all schedulers respond, otherwise after the timeout', async () => {
  const { follow, ask, respond, clock } = newDecisions()
  await rejects(ask('default/a'), /could not find the requested resource/)
  const next = await follow()
  const unknown = ask('default/a')
  await respond((await next()).id, null)
  await rejects(unknown, /could not find the requested resource/)
  const silent = ask('default/b')
  const refused = rejects(silent, /could not find the requested resource/)
  await clock.advance('3s')
  await refused
})

test('a scheduler that has disconnected is not waited for', async () => {
  const { follow, ask } = newDecisions()
  const gone = new AbortController()
  const next = await follow(gone.signal)
  const reading = next().catch(() => undefined)
  gone.abort()
  await reading
  await rejects(ask('default/a'), /could not find the requested resource/)
})

test('a response names its query', async () => {
  const { respond } = newDecisions()
  await rejects(respond('x', null), (error: Error) => {
    match(error.message, /id: must be the number of a question/)
    return true
  })
})

test('other servers are asked for what this one does not know, unless one of them asks', async () => {
  const { ask } = newDecisions()
  deepEqual(await valueOf(ask('default/other')), { pod: 'default/other' })
  deepEqual(await valueOf(ask('default/own?own=true')), own)
  await rejects(ask('default/other?own=true'), { code: 404 })
})
