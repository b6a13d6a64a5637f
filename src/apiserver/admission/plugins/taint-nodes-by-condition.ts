// TaintNodesByCondition: a new node is tainted as not ready until its conditions were checked.
import { node, type Node } from '../../../api/core/v1/node/node.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const

export const taintNodesByCondition = defineAdmissionPlugin({
  name: 'TaintNodesByCondition',
  handles: { operations: ['create'], kinds: [node] },
  admit({ object }) {
    const { spec } = object as Node
    const taints = spec.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return object
    return { ...(object as Node), spec: { ...spec, taints: [...taints, notReady] } }
  },
})
