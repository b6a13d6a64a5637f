// The layout and the SVG text of sequence diagrams, without a browser.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noCause, type FlowEvent, type FlowId } from '../../base/observability/flow-recorder.ts'
import { drawnMessages, failureReason, type DrawnMessage } from './drawn-message.ts'
import { arrowPaths, lineKind, sequenceLayout, type Row } from './sequence-layout.ts'
import { svgDiagram, xmlText } from './svg-diagram.ts'
import { textWidthPx, wrapText } from './text-width.ts'

const message = (fields: Partial<DrawnMessage> = {}): DrawnMessage => ({
  id: 1,
  arrow: 'call',
  from: 'kubectl',
  to: 'API Server',
  afterMs: 0,
  text: 'create pods web',
  count: 1,
  isInferred: false,
  hasFailed: false,
  ...fields,
})

const event = (fields: Partial<FlowEvent>): FlowEvent => ({
  id: 1 as FlowId,
  arrow: 'call',
  atMs: 1_000,
  endMs: 1_001,
  from: 'kubectl',
  to: 'API Server',
  what: 'create pods',
  outcome: '201',
  allowedBy: undefined,
  revision: 0,
  cause: noCause,
  span: undefined,
  object: { resource: 'pods', namespace: 'default', name: 'web' },
  stages: [],
  ...fields,
})

suite('sequence layout', () => {
  test('lifelines are in order of appearance, or in the order given', () => {
    const messages = [message(), message({ from: 'API Server', to: 'Store', arrow: 'persist' })]
    deepEqual(
      sequenceLayout(messages).lifelines.map(({ name }) => name),
      ['kubectl', 'API Server', 'Store'],
    )
    const given = sequenceLayout(messages, { participants: ['Store', 'kubectl'] })
    deepEqual(
      given.lifelines.map(({ name }) => name),
      ['Store', 'kubectl', 'API Server'],
    )
  })

  test('a text fits between its lifelines, up to a width beyond which it is wrapped', () => {
    const text = 'create pods a-name-of-some-length'
    const [row] = sequenceLayout([message({ text })], { labelPxMax: 400 }).rows as [Row]
    equal(row.lines.length, 1)
    ok(row.toX - row.fromX > textWidthPx(text, 12))
    const [wrapped] = sequenceLayout([message({ text })], { labelPxMax: 90 }).rows as [Row]
    ok(wrapped.lines.length > 1)
    equal(wrapped.lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
  })

  test('rows do not overlap, and all texts are within the diagram', () => {
    const long = 'queue → PreFilter → Filter 1 of 1 → Reserve node-0 web '.repeat(4)
    const texts = [long, 'short', long]
    const messages = texts.map((text, at) => message({ id: at, text, ...(at === 1 ? {} : { from: 'API Server' }) }))
    const { rows, widthPx, heightPx } = sequenceLayout(messages)
    for (const [at, row] of rows.entries()) {
      ok(row.y > row.top)
      ok(row.y < (rows[at + 1]?.top ?? heightPx))
      ok(row.textX + Math.max(...row.lines.map((line) => textWidthPx(line, 12))) / 2 < widthPx)
    }
  })

  test('an empty diagram has no rows', () => {
    deepEqual(sequenceLayout([]).rows, [])
  })

  for (const [afterMs, time] of [
    [12.4, '+12ms'],
    [9_999, '+9999ms'],
    [10_000, '+10.0s'],
    [660_000, '+11m0s'],
  ] as const)
    test(`${afterMs} ms are shown as ${time}`, () => {
      equal(sequenceLayout([message({ afterMs })]).rows[0]?.time, time)
    })

  for (const [name, fields, line, head] of [
    ['a call to the right is one line', {}, /^M\S+ \S+H\S+$/, /l-8 -4v8z$/],
    ['a call to the left has its head on the left', { back: true }, /^M\S+ \S+H\S+$/, /l8 -4v8z$/],
    ['a write is a double line', { arrow: 'persist' }, /^M\S+ \S+H\S+M\S+ \S+H\S+$/, /l-8 -4v8z$/],
    ['a reconcile is a loop', { arrow: 'reconcile', to: 'kubectl' }, /h18v12h-14$/, /l8 -4v8z$/],
    ['a step is a dot', { arrow: 'step', to: 'kubectl' }, /h22$/, /a4 4/],
  ] as const)
    test(name, () => {
      const { back, ...rest } = { back: false, ...fields }
      const participants = back ? ['API Server', 'kubectl'] : []
      const [row] = sequenceLayout([message(rest)], { participants }).rows as [Row]
      const paths = arrowPaths(row)
      match(paths.line, line)
      match(paths.head, head)
    })

  test('a call whose cause is inferred has a line of its own', () => {
    equal(lineKind(message({ isInferred: true })), 'inferred')
  })
})

suite('texts', () => {
  test('a text is wrapped between words, a long word within', () => {
    deepEqual(wrapText('one two three', 60, 12, 5), ['one two', 'three'])
    equal(wrapText('x'.repeat(40), 60, 12, 9).join(''), 'x'.repeat(40))
    deepEqual(wrapText('', 60, 12, 5), [''])
  })

  test('a text that needs more lines ends with an ellipsis', () => {
    const lines = wrapText('one two three four five six', 50, 12, 2)
    equal(lines.length, 2)
    match(lines[1] ?? '', /…$/)
  })

  for (const [outcome, to, reason] of [
    ['201', 'API Server', undefined],
    ['409 AlreadyExists', 'API Server', '409 AlreadyExists: the object exists already or was changed meanwhile'],
    ['403', 'API Server', '403: the user is not allowed to do this'],
    ['418', 'API Server', '418'],
    ['image "gone" does not exist', 'Runtime', 'image "gone" does not exist'],
    ['ok', 'Runtime', undefined],
    ['failed', 'webhook', 'failed'],
  ] as const)
    test(`outcome ${outcome} of ${to}: ${reason ?? 'no failure'}`, () => {
      equal(failureReason(event({ outcome, to })), reason)
      const [drawn] = drawnMessages([{ event: event({ outcome, to }), count: 1, isInferred: false }])
      equal(drawn?.hasFailed, reason !== undefined)
      if (reason !== undefined) ok(drawn?.text.endsWith(` → ${reason}`))
    })

  test('a pod that fits on no node is a failure, with what the scheduler found', () => {
    const reason = '0/3 nodes are available: 3 Insufficient cpu.'
    const decided = event({ arrow: 'reconcile', what: `queue → PreFilter → Filter: ${reason}`, outcome: 'done' })
    equal(failureReason(decided), reason)
    const [drawn] = drawnMessages([{ event: decided, count: 1, isInferred: false }])
    deepEqual([drawn?.hasFailed, drawn?.text], [true, `queue → PreFilter → Filter: ${reason} web`])
    equal(failureReason({ ...decided, arrow: 'step', what: `PostFilter: ${reason}` }), reason)
    equal(failureReason({ ...decided, what: 'queue → PreFilter → Filter 3 of 3 → Score' }), undefined)
  })

  test('times are since the first message', () => {
    const one = { count: 1, isInferred: false }
    const drawn = drawnMessages([
      { ...one, event: event({}) },
      { ...one, event: event({ atMs: 1_250 }) },
    ])
    deepEqual(
      drawn.map(({ afterMs }) => afterMs),
      [0, 250],
    )
  })
})

suite('SVG', () => {
  const messages = [message({ count: 3 }), message({ id: 2, hasFailed: true, text: 'create <b>&"</b>\u0007 → 409' })]

  test('the same messages give the same text', () => {
    equal(svgDiagram(messages, { title: 'web' }), svgDiagram(messages, { title: 'web' }))
  })

  test('names are text, never markup', () => {
    const svg = svgDiagram(messages, { title: '<script>alert(1)</script>' })
    doesNotMatch(svg, /<script|<b>/)
    match(svg, /<title>&lt;script&gt;/)
    match(svg, /&lt;b&gt;&amp;&quot;&lt;\/b&gt;\ufffd/)
    equal(xmlText('a\ud800b'), 'a\ufffdb')
  })

  test('failures have their own class, counts are shown', () => {
    const svg = svgDiagram(messages, { title: 'web' })
    match(svg, /<g class="call failure">/)
    match(svg, /create pods web ×3/)
  })

  test('colors follow the viewer, or a theme', () => {
    match(svgDiagram(messages, { title: 'web' }), /prefers-color-scheme:dark/)
    const dark = svgDiagram(messages, { title: 'web', theme: 'dark' })
    doesNotMatch(dark, /prefers-color-scheme/)
    match(dark, /--background:#0d1117/)
  })
})
