import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { MermaidStatements } from './mermaid-diagram.ts'

test('texts are one statement and no markup, whatever they contain', () => {
  const flow = new FlowRecorder(new VirtualClock())
  flow.record('call', 'a;b\n  participant x', 'API Server', 'create <img src="x"> #1 & more')
  const statements = new MermaidStatements()
  deepEqual(
    [...flow.events()].flatMap((event) => statements.draw({ event, count: 2, isInferred: false })),
    [
      '  participant p0 as a#59;b   participant x',
      '  participant p1 as API Server',
      '  p0->>p1: create #60;img src=#34;x#34;#62; #35;1 #38; more ×2',
    ],
  )
})
