// coxswain flow: the life of an object of a running cluster, as it was recorded.
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind.ts'
import { lifeOf } from '../../flows/flow-graph.ts'
import { textDiagram } from '../../flows/text-diagram.ts'
import { fetchFlowEvents } from '../../cluster/flow-events.ts'
import { defineCommand, UsageError } from '../command.ts'
import { readKubeconfig } from '../kubeconfig-file.ts'

export const flow = defineCommand({
  name: 'flow',
  summary: 'draws what happened to an object and why',
  operands: '<kind>/<name>',
  options: {
    namespace: { type: 'string', value: '<name>', short: 'n', help: 'the namespace of the object (default)' },
    format: { type: 'string', value: 'text|json', help: 'how to write it (text)' },
    all: { type: 'boolean', help: 'shows alike branches one by one' },
    rules: { type: 'boolean', help: 'names the rule by which each call was let through' },
    kubeconfig: { type: 'string', value: '<file>', help: 'how to reach the cluster ($KUBECONFIG)' },
  },
  async run({ operands, options }, { out, environment, signal }) {
    const [kindName = '', name] = (operands[0] ?? '').split('/')
    if (name === undefined || name === '')
      throw new UsageError('name an object as <kind>/<name>, such as deployment/web')
    const kind = kindOf(kindName)
    const format = options.format ?? 'text'
    if (format !== 'text' && format !== 'json')
      throw new UsageError(`--format ${format}: only text and json are there yet`)
    const events = await fetchFlowEvents(await readKubeconfig(options.kubeconfig, environment), signal)
    const object = { resource: kind.plural, namespace: kind.namespaced ? (options.namespace ?? 'default') : '', name }
    const roots = lifeOf(events, object)
    if (roots.length === 0) throw new UsageError(`nothing is recorded of ${kind.singular}/${name}`)
    out(
      format === 'json'
        ? `${JSON.stringify(roots, undefined, 2)}\n`
        : textDiagram(roots, { fold: !options.all, rules: options.rules ?? false }),
    )
    return 0
  },
})

function kindOf(text: string): Kind {
  const kind = kinds.find(({ singular, plural, shortNames }) =>
    [singular, plural, ...shortNames].includes(text.toLowerCase()),
  )
  if (kind === undefined) throw new UsageError(`there is no kind ${JSON.stringify(text)}`)
  return kind
}
