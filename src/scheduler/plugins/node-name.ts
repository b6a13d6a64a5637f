// NodeName: a pod with spec.nodeName only fits that node.
import { defineSchedulerPlugin, rejection, skip } from '../framework/framework.ts'

const otherNode = rejection("node(s) didn't match the requested node name", false)

export const nodeName = defineSchedulerPlugin<string, never>({
  name: 'NodeName',
  isLocal: true,
  preFilter: ({ pod: { spec } }) => (spec.nodeName === undefined ? skip : { kind: 'check', state: spec.nodeName }),
  filter: ({ snapshot }, slot, wanted) => (snapshot.nameAt(slot) === wanted ? undefined : otherNode),
  eventsToRegister: ['node-added'],
})
