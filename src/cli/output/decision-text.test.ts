import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ExplainedNode } from '../../scheduler/cycle/decision-record.ts'
import { decisionText } from './decision-text.ts'

const decided = { pod: 'default/web', at: '2030-01-01T00:00:00Z', schedulerName: 'default-scheduler', message: '' }
const rejected = (node: string, plugin: string, ...reasons: string[]): ExplainedNode => ({
  node,
  plugin,
  reasons,
  verdict: 'rejected',
})

test('the table of a decision has the best node first, then nodes that were not evaluated and the rejected ones', () => {
  const text = decisionText({
    ...decided,
    nodeName: 'node-b',
    nodes: [
      rejected('node-d', 'TaintToleration', 'a taint', 'another taint'),
      { node: 'node-a', verdict: 'fits', total: 90, scores: { Balance: 40, Spread: 50 } },
      { node: 'node-c', verdict: 'not evaluated' },
      { node: 'node-b', verdict: 'fits', total: 120, scores: { Balance: 120 } },
      rejected('node-e', 'NodeName', 'another name'),
    ],
  })
  equal(
    text,
    `Decision of default-scheduler at 2030-01-01T00:00:00Z: node-b

NODE    VERDICT        SCORE  DETAILS
node-b  fits           120    Balance 120
node-a  fits           90     Balance 40, Spread 50
node-c  not evaluated         not evaluated: enough nodes were found
node-e  rejected              NodeName: another name
node-d  rejected              TaintToleration: a taint, another taint
`,
  )
})

test('without a node, the heading says that none fits; the only fitting node has no scores', () => {
  equal(
    decisionText({ ...decided, nodes: [] }),
    'Decision of default-scheduler at 2030-01-01T00:00:00Z: no node fits\n\nNODE  VERDICT  SCORE  DETAILS\n',
  )
  equal(
    decisionText({ ...decided, nodeName: 'a', nodes: [{ node: 'a', verdict: 'fits' }] })
      .split('\n')
      .at(-2),
    'a     fits',
  )
})
