import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createLog, errorText, type LogOptions } from './log.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

function logged(format: LogOptions['format'], level: LogOptions['level'] = 'info') {
  const lines: string[] = []
  const log = createLog({
    clock: new VirtualClock(1_700_000_000_000),
    write: (line) => lines.push(line),
    format,
    level,
  })
  return { log, lines }
}

test('text for people', () => {
  const { log, lines } = logged('text')
  log
    .with({ component: 'kubelet' })
    .warn('image is missing', { image: 'nginx:1', endpoint: undefined, why: 'not found' })
  log.info('ready', { ms: 12, error: new Error('outer', { cause: new Error('inner') }) })
  deepEqual(lines, [
    '22:13:20.000 WARN image is missing component=kubelet image=nginx:1 why="not found"\n',
    '22:13:20.000 ready ms=12 error="outer: inner"\n',
  ])
})

test('JSON for programs', () => {
  const { log, lines } = logged('json')
  log.error('write failed', { error: new Error('disk full'), size: 10n })
  deepEqual(JSON.parse(lines[0] ?? ''), {
    time: '2023-11-14T22:13:20.000Z',
    level: 'error',
    message: 'write failed',
    error: 'disk full',
    size: '10',
  })
})

test('entries below the level are not written', () => {
  const { log, lines } = logged('text', 'warn')
  log.debug('a')
  log.info('b')
  log.error('c')
  equal(lines.length, 1)
})

test('a thrown value that is not an Error is logged', () => equal(errorText('just text'), 'just text'))
