import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { CopiedBody } from './copied-body.ts'

async function* bodyOf(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array, void> {
  for (const each of texts) {
    if (each instanceof Error) throw each
    yield new TextEncoder().encode(each)
  }
}

const textOf = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  let text = ''
  for await (const piece of body) text += new TextDecoder().decode(piece)
  return text
}

test('the body and its copies have the same bytes', async () => {
  const body = new CopiedBody(bodyOf('a', 'b', 'c'))
  const copies = [body.copy(), body.copy()]
  deepEqual(await Promise.all([body, ...copies].map(textOf)), ['abc', 'abc', 'abc'])
})

test('a copy may be read after the body, or left', async () => {
  const body = new CopiedBody(bodyOf('a', 'b', 'c'))
  const late = body.copy()
  const left = body.copy()
  const reading = (async () => {
    for await (const piece of left) return new TextDecoder().decode(piece)
    return ''
  })()
  deepEqual([await textOf(body), await textOf(late), await reading], ['abc', 'abc', 'a'])
})

test('a copy that is read too slowly fails; the body does not', async () => {
  const large = 'x'.repeat(700_000)
  const body = new CopiedBody(bodyOf(large, large))
  const copy = body.copy()
  deepEqual((await textOf(body)).length, 1_400_000)
  await rejects(textOf(copy), /read too slowly/)
})

test('a copy fails if the body fails or is not read to its end', async () => {
  const failing = new CopiedBody(bodyOf('a', new Error('reset')))
  const ofFailing = failing.copy()
  await rejects(textOf(failing), /reset/)
  await rejects(textOf(ofFailing), /not read to its end/)
  const abandoned = new CopiedBody(bodyOf('a', 'b'))
  const ofAbandoned = abandoned.copy()
  for await (const _ of abandoned) break
  await rejects(textOf(ofAbandoned), /not read to its end/)
})
