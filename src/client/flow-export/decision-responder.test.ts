// Queries are answered one by one; a connection that ends is opened again, unless the server rejects it.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { DecisionQuery } from '../../api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { respondToDecisionQueries } from './decision-responder.ts'

/** Each round is one connection: its queries, then its end, or its failure. */
async function answersTo(rounds: readonly (readonly DecisionQuery[] | Error)[]): Promise<string[]> {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const left = [...rounds]
  const answers: string[] = []
  async function* questions(): AsyncGenerator<DecisionQuery> {
    const round = left.shift()
    if (round === undefined) stop.abort()
    else if (round instanceof Error) throw round
    else yield* round
  }
  const answer = (id: number, explanation: object | undefined) => {
    answers.push(`${id} ${JSON.stringify(explanation)}`)
    return Promise.resolve()
  }
  const explain = (pod: string) => (pod === 'default/known' ? { pod } : undefined)
  const ended = respondToDecisionQueries(
    { queries: questions, respond: answer, explain, clock, log: silentLog },
    stop.signal,
  )
  await clock.advance('10s')
  stop.abort()
  await ended
  return [...answers, `${left.length} left`]
}

const known = { id: 1, pod: 'default/known' }
const unknown = { id: 2, pod: 'default/unknown' }
const rows: readonly [why: string, rounds: Parameters<typeof answersTo>[0], answers: string[]][] = [
  ['known and unknown pods', [[known, unknown]], ['1 {"pod":"default/known"}', '2 undefined', '0 left']],
  ['a connection that ends', [[known], [unknown]], ['1 {"pod":"default/known"}', '2 undefined', '0 left']],
  ['a connection that fails', [new Error('reset'), [unknown]], ['2 undefined', '0 left']],
  ['a server that rejects the connection', [new StatusError(403, 'Forbidden', 'no'), [known]], ['1 left']],
]
for (const [why, rounds, answers] of rows)
  test(`decision queries: ${why}`, async () => deepEqual(await answersTo(rounds), answers))
