// OpenAPI v2 documents of extensions as one part.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { mergedExtensions } from './merged-extensions.ts'

const reference = (name: string) => ({ $ref: `#/definitions/${name}` })
const path = (name: string) => ({ get: { responses: { 200: { description: 'OK', schema: reference(name) } } } })
const known = { Meta: { type: 'object', description: 'ours' } }

test('an equal definition is shared, and another one of the same name is renamed with its references', () => {
  const same = {
    paths: { '/a': path('A') },
    definitions: { A: { type: 'object', properties: { m: reference('Meta') } }, Meta: known.Meta },
  }
  const other = {
    paths: { '/b': path('B') },
    definitions: {
      B: { type: 'object', properties: { m: reference('Meta'), list: { type: 'array', items: reference('A') } } },
      A: { type: 'string' },
      Meta: { type: 'object', description: 'theirs' },
    },
  }
  deepEqual(mergedExtensions([same, other], known), {
    paths: { '/a': path('A'), '/b': path('B') },
    definitions: {
      A: { type: 'object', properties: { m: reference('Meta') } },
      B: { type: 'object', properties: { m: reference('Meta_v2'), list: { type: 'array', items: reference('A_v2') } } },
      A_v2: { type: 'string' },
      Meta_v2: { type: 'object', description: 'theirs' },
    },
  })
})

test('two versions of one server share what they rename', () => {
  const definitions = { Meta: { type: 'object', description: 'theirs' } }
  const versions = ['/a', '/b'].map((each) => ({ paths: { [each]: path('Meta') }, definitions }))
  deepEqual(mergedExtensions(versions, known), {
    paths: { '/a': path('Meta_v2'), '/b': path('Meta_v2') },
    definitions: { Meta_v2: definitions.Meta },
  })
})
