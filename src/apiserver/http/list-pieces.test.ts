import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ListResponse } from '../request/response.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { encodeList } from './encode-json.ts'
import { isShortList, listPieces } from './list-pieces.ts'

const kilobyte = 1 << 10

/** A list of so many objects of about this size. */
const listOf = (count: number, bytes: number): ListResponse => ({
  kind: 'list',
  objectKind: configMap,
  items: Array.from({ length: count }, (_, index) =>
    StoredObject.ofObject(
      {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: `c${index}`, uid: '', resourceVersion: '', creationTimestamp: '' },
        data: { text: 'x'.repeat(bytes) },
      } as ApiObject,
      index + 1,
    ),
  ),
  revision: 7,
  continueToken: '',
  remaining: undefined,
})

function piecesOf(response: ListResponse): readonly Uint8Array[] {
  const pieces = [] as Uint8Array[]
  const body = listPieces(response)
  for (let batch = body.take(); batch !== undefined; batch = body.take()) pieces.push(...batch)
  return pieces
}

const lists: [why: string, response: ListResponse, isShort: boolean][] = [
  ['an empty list', listOf(0, 0), true],
  ['many small objects', listOf(1_000, 10), true],
  ['a list of more than one piece', listOf(1_000, kilobyte), false],
  ['few large objects', listOf(10, 1_000 * kilobyte), false],
]
for (const [why, response, isShort] of lists)
  test(`${why}: the pieces are the whole list`, () => {
    const pieces = piecesOf(response)
    const whole = encodeList(response, { form: { syntax: 'json', shape: 'object' }, include: 'None', nowMs: 0 })
    equal(Buffer.concat(pieces).toString(), Buffer.from(whole).toString())
    equal(isShortList(response), isShort)
  })

test('pieces start small, and double up to 128 KiB', () => {
  const sizes = piecesOf(listOf(1_000, kilobyte)).map(({ length }) => Math.floor(length / (16 * kilobyte)))
  deepEqual(sizes.slice(0, 6), [1, 2, 4, 8, 8, 8])
})

test('a piece has no more than one large object', () => {
  for (const { length } of piecesOf(listOf(10, 1_000 * kilobyte))) ok(length < 1_100 * kilobyte, `${length} bytes`)
})

test('a closed list has no more pieces', () => {
  const body = listPieces(listOf(1_000, kilobyte))
  equal(body.take()?.length, 1)
  body.close()
  equal(body.take(), undefined)
})
