import assert from 'node:assert/strict'
import test from 'node:test'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { LabelIndex, requiredPair } from './label-index.ts'

const labelled = (name: string, labels?: Readonly<Record<string, string>>) => ({
  metadata: { name, ...(labels === undefined ? {} : { labels }) },
})

const objects = [
  labelled('a', { app: 'web', tier: 'front' }),
  labelled('b', { app: 'web', tier: 'back' }),
  labelled('c', { app: 'db' }),
  labelled('d'),
]

const selections: [selector: string, names: readonly string[]][] = [
  ['', ['a', 'b', 'c', 'd']],
  ['app=web', ['a', 'b']],
  ['app=web,tier=back', ['b']],
  ['app in (web,db)', ['a', 'b', 'c']],
  ['app in (web,db),tier=front', ['a']],
  ['app=web,tier!=back', ['a']],
  ['app=none', []],
  ['!app', ['d']],
]
for (const [selector, names] of selections)
  test(`the selector "${selector}" finds ${names.join(', ') || 'nothing'}`, () => {
    const found = new LabelIndex(objects).select(parseLabelSelector(selector))
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      names,
    )
  })

test('an object is found by the labels that it has now', () => {
  const index = new LabelIndex(objects)
  assert.equal(index.select(parseLabelSelector('app=web,tier=front')).length, 1)
  index.set(labelled('c', { app: 'web' }))
  assert.equal(index.select(parseLabelSelector('app=web')).length, 3)
  assert.equal(index.select(parseLabelSelector('app=db')).length, 0)
  index.delete('c')
  index.delete('unknown')
  assert.equal(index.select(parseLabelSelector('app=web')).length, 2)
  assert.equal(index.size, 3)
  index.set(labelled('d', { app: 'web', tier: 'back' }))
  assert.equal(index.select(parseLabelSelector('app=web,tier=back')).length, 2)
})

test('the required label of a selector is its first equality', () => {
  assert.equal(requiredPair(parseLabelSelector('app=web,tier=back,zone in (a,b)')), 'app=web')
  assert.equal(requiredPair(parseLabelSelector('app,zone!=a')), undefined)
})
