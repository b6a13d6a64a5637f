import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { frameDiff } from './frame-diff.ts'
import { Frame, span } from './frame.ts'
import { styleCode } from './styles.ts'

const picture = (...lines: string[]): Frame => {
  const frame = new Frame(12, lines.length)
  for (const [y, line] of lines.entries()) frame.put(0, y, line)
  return frame
}

/** The cursor positions and texts of a diff. */
const writes = (diff: string): string[] => {
  // oxlint-disable-next-line no-control-regex -- the output of the writer consists of them
  const plain = diff.replaceAll(/\x1b\[\?2026[hl]|\x1b\[[\d;]*m/g, '')
  return plain.split('\x1b[').filter((part) => part !== '')
}

test('text is drawn up to the end of a row, and not outside of the frame', () => {
  const frame = new Frame(5, 2)
  equal(frame.put(0, 0, 'abcdefgh'), 5)
  equal(frame.put(3, 1, '日本'), 5)
  equal(frame.put(0, 2, 'below'), 0)
  equal(frame.put(0, -1, 'above'), 0)
  equal(frame.putSpans(0, 1, [span('x', 'bold'), span('yz', 'dim')], 2), 2)
  deepEqual(frame.lines(), ['abcde', 'xy 日'])
  deepEqual([frame.styleAt(0, 1), frame.styleAt(1, 1), frame.styleAt(3, 1)], ['bold', 'dim', 'plain'])
  frame.restyle(0, 0, 9, 'selected')
  deepEqual([frame.styleAt(4, 0), frame.textAt(4, 0)], ['selected', 'e'])
})

test('text that begins left of the frame is cut', () => {
  const frame = new Frame(4, 2)
  frame.put(-2, 1, 'abcd')
  frame.put(-1, 0, '日x')
  deepEqual(frame.lines(), [' x', 'cd'])
})

test('a wide character that does not fit is left out', () => {
  const frame = new Frame(3, 1)
  frame.put(0, 0, 'ab日')
  deepEqual(frame.lines(), ['ab'])
})

test('the first frame clears the screen and writes what is not blank', () => {
  deepEqual(writes(frameDiff(undefined, picture('one', '', ' two'), false)), ['2J', '1;1Hone', '3;2Htwo'])
})

test('a frame of another size is written completely', () => {
  match(frameDiff(picture('a'), picture('a', 'b'), false), /2J/)
})

test('nothing is written for an equal frame', () => equal(frameDiff(picture('a', 'b'), picture('a', 'b'), true), ''))

test('only changed cells are written; changes that are close together are one write', () => {
  deepEqual(writes(frameDiff(picture('web-0 1/1 ok'), picture('web-0 0/1 ok'), false)), ['1;7H0'])
  deepEqual(writes(frameDiff(picture('a--b------c-'), picture('x--y------z-'), false)), ['1;1Hx--y', '1;11Hz'])
  deepEqual(writes(frameDiff(picture('one', 'two'), picture('one', 'twx'), false)), ['2;3Hx'])
})

test('a narrow text over a wide one removes both of its columns', () => {
  deepEqual(writes(frameDiff(picture('日x'), picture('a x'), false)), ['1;1Ha '])
  deepEqual(writes(frameDiff(picture('a x'), picture('日x'), false)), ['1;1H日'])
})

test('a changed style is a change; the style code is written once per run of it', () => {
  const before = picture('abc')
  const after = picture('abc')
  after.restyle(0, 0, 2, 'failure')
  const diff = frameDiff(before, after, true)
  equal(diff.split(styleCode('failure', true)).length, 2)
  ok(diff.includes('ab'))
})

test('without colours, styles are emphasis only', () => {
  for (const style of ['call', 'success', 'warning', 'plain'] as const) equal(styleCode(style, false), '\x1b[0m')
  equal(styleCode('selected', false), '\x1b[0;7m')
  match(styleCode('selected', true), /46m$/)
})
