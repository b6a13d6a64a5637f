import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { queryBytes } from '../message/message.harness.ts'
import { recordType } from '../message/record.ts'
import { serviceOf, zoneOf } from '../records/zone.harness.ts'
import { KeptResponses, responseTo, type AnswerSource } from './kept-responses.ts'

const name = 'web.default.svc.cluster.local'
const service = serviceOf('web', { clusterIP: '10.96.0.10' })
const query = queryBytes({ name, id: 7 })
const response = Uint8Array.from([0, 7, 1, 2, 3])

function sourceIn(zone: ReturnType<typeof zoneOf>): AnswerSource {
  const answer = zone.lookup(name, recordType.A)
  const records = zone.recordsOf(name)
  const type = recordType.A
  if (records === undefined) throw new Error('the zone has no such Service')
  return { records, type, answer }
}

const found = (kept: KeptResponses, bytes: Uint8Array): readonly number[] | undefined => {
  const one = kept.find(bytes)
  return one === undefined ? undefined : [...responseTo(bytes, one)]
}

test('an equal query gets the response with its own id', () => {
  const kept = new KeptResponses()
  equal(found(kept, query), undefined)
  kept.keep(query, response, sourceIn(zoneOf(service)))
  deepEqual(found(kept, query), [0, 7, 1, 2, 3])
  deepEqual(found(kept, queryBytes({ name, id: 0x0102 })), [1, 2, 1, 2, 3])
})

test('a query that differs in anything but its id does not', () => {
  const kept = new KeptResponses()
  kept.keep(query, response, sourceIn(zoneOf(service)))
  for (const other of [
    queryBytes({ name: name.toUpperCase(), id: 7 }),
    queryBytes({ name, id: 7, type: 'AAAA' }),
    query.subarray(0, -1),
    new Uint8Array(1),
  ])
    equal(found(kept, other), undefined)
})

test('a response is not used after its Service has changed', () => {
  const zone = zoneOf(service)
  const kept = new KeptResponses()
  kept.keep(query, response, sourceIn(zone))
  zone.setService(service, serviceOf('web', { clusterIP: '10.96.0.11' }))
  equal(found(kept, query), undefined)
  kept.keep(query, response, sourceIn(zone))
  deepEqual(found(kept, query), [0, 7, 1, 2, 3])
  zone.setService(service, undefined)
  equal(found(kept, query), undefined)
})

test('the memory is bounded', () => {
  const source = sourceIn(zoneOf(service))
  const kept = new KeptResponses(128 << 10)
  const queryOf = (index: number) => queryBytes({ name: `n${index}.${name}`, id: 1 })
  for (let index = 0; index < 3_000; index++) kept.keep(queryOf(index), response, source)
  const count = Array.from({ length: 3_000 }, (_, index) => found(kept, queryOf(index))).filter((one) => one).length
  equal(count > 0 && count < 3_000, true, `${count} are kept`)
  deepEqual(found(kept, queryOf(2_999)), [0, 1, 1, 2, 3])
  kept.keep(query, new Uint8Array(513), source)
  equal(found(kept, query), undefined, 'long messages are not kept')
})
