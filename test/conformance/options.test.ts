import { deepEqual, equal, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { upstreamFolder } from '../upstream-executables.ts'
import { parseOptions, UsageError } from './options.ts'

suite('the command line of the conformance runner', () => {
  test('runs all conformance specs by default', () => {
    const { focus, parallel, suite: suiteFolder, again } = parseOptions([])
    deepEqual([focus, parallel, suiteFolder, again.size], [String.raw`\[Conformance\]`, 3, upstreamFolder(), 0])
  })

  test('takes a focus and flags in any order', () => {
    const options = parseOptions(['--parallel', '2', 'sig-node', '--again', 'failed,hollow', '--up=--store memory'])
    equal(options.focus, 'sig-node')
    deepEqual([options.parallel, [...options.again], options.up], [2, ['failed', 'hollow'], ['--store', 'memory']])
  })

  test('selects the other specs, and a store', () => {
    const { focus, others, store } = parseOptions(['--others', '--store', 'etcd'])
    deepEqual([focus, others, store], ['.', true, 'etcd'])
  })

  for (const args of [
    ['--store', 'memory'],
    ['a', 'b'],
    ['--parallel', '0'],
    ['--minutes', 'x'],
    ['--again', 'lost'],
    ['--unknown'],
  ])
    test(`rejects ${args.join(' ')}`, () => {
      throws(() => parseOptions(args), UsageError)
    })
})
