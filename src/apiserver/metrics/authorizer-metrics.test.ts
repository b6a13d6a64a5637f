import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { AccessAttributes } from '../authorization/attributes.ts'
import { allowed, denied, noOpinion, type Authorizer, type Decision } from '../authorization/authorizer.ts'
import type { User } from '../request/request.ts'
import { AuthorizerMetrics } from './authorizer-metrics.ts'

const { signal } = new AbortController()
const attributes = {} as AccessAttributes
const rules = { rules: [], incomplete: true, errors: ['of another server'] }

test('decisions are counted by kind, also those of other servers; without an opinion there is none', async () => {
  const metrics = new Metrics()
  const answers: (Decision | Promise<Decision>)[] = [
    ...[allowed(), noOpinion(), denied()],
    ...[allowed(), noOpinion(), denied(), denied()].map((decision) => Promise.resolve(decision)),
  ]
  const kinds = await Promise.all(answers.map(async (each) => (await each).kind))
  const asked = [...answers]
  const authorizer: Authorizer = {
    name: 'webhook',
    rulesFor: () => rules,
    authorize: () => asked.shift() ?? noOpinion(),
  }
  const counted = new AuthorizerMetrics(metrics, new VirtualClock()).counted(authorizer, 'Webhook', 'own')
  const decided: string[] = []
  for (const _ of answers) decided.push((await counted.authorize(attributes, signal)).kind)
  deepEqual(decided, kinds)
  deepEqual([counted.name, counted.rulesFor({} as User, 'a')], ['webhook', rules])
  const lines = metrics.text().split('\n')
  const count = (decision: string) =>
    lines
      .find((line) => line.includes(`decision="${decision}",name="own",type="Webhook"`))
      ?.split(' ')
      .at(-1)
  deepEqual([count('allowed'), count('denied'), count('noOpinion')], ['2', '3', undefined])
})

test('changes of the graph are timed by their kind', async () => {
  const metrics = new Metrics()
  const clock = new VirtualClock()
  const own = new AuthorizerMetrics(metrics, clock)
  const startMs = own.startGraphAction()
  await clock.advance(250)
  own.endGraphAction('AddPod', startMs)
  own.endGraphAction('AddPod', startMs)
  const sum = /^node_authorizer_graph_actions_duration_seconds_sum\{operation="AddPod"\} (.*)$/m.exec(metrics.text())
  equal(sum?.[1], '0.5')
})
