import { match } from 'node:assert/strict'
import { test } from 'node:test'
import { notRecordedText } from './recorded-lifecycles.ts'

test('an object without recorded messages: the text says when the record began', () => {
  const events = [{ atMs: Date.UTC(2030, 0, 1, 12) }, { atMs: Date.UTC(2030, 0, 2) }]
  match(
    notRecordedText('pod/a', events),
    /^nothing is recorded about pod\/a: the record begins at 2030-01-01T12:00:00Z, when /,
  )
  match(notRecordedText('pod/a', []), /^nothing is recorded about pod\/a: the record is empty \(up --flow-events\)$/)
})
