// Explains ServiceAccounts whose requests are refused: what was refused, and the role that would allow it. Only Coxswain
// records refused requests.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { serviceAccount, type ServiceAccount } from '../../../api/core/v1/service-account.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { defineExplainer, namesText, plural } from '../explainer/explainer.ts'
import { problem, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { grantsOf, type Grant } from './granted-rules.ts'

/** Different requests that are reported. */
const refusalsMax = 5

export const serviceAccountExplainer = defineExplainer({
  kind: serviceAccount,
  checked: 'its refused requests and its roles',
  async explain(object, cluster, recorded = []) {
    const user = `system:serviceaccount:${namespaceOf(object)}:${object.metadata.name}`
    const refused = recorded.filter(({ deniedTo, object: about }) => deniedTo === user && about !== undefined)
    if (refused.length === 0) return []
    const grants = await grantsOf(object, cluster)
    const byRequest = Map.groupBy(refused, ({ what, object: about }) => `${what} ${about?.namespace ?? ''}`)
    return [...byRequest.values()]
      .filter((calls) => calls.every((call) => !isAllowedNow(call, grants)))
      .slice(-refusalsMax)
      .map((calls) => refusalFinding(object, calls, grants))
  },
})

interface RefusedRequest {
  readonly verb: string
  readonly resource: string
  readonly namespace: string
}

function requestOf({ what, object }: FlowEvent): RefusedRequest {
  const [verb = '', resource = ''] = what.split(' ')
  return { verb, resource, namespace: object?.namespace ?? '' }
}

/** Whether a role that was bound since then allows the request. */
function isAllowedNow(call: FlowEvent, grants: readonly Grant[]): boolean {
  const { verb, resource, namespace } = requestOf(call)
  const has = (allowed: readonly string[] = [], wanted: string) => allowed.includes(wanted) || allowed.includes('*')
  return grants.some(
    ({ scope, rules }) =>
      (scope === '' || scope === namespace) &&
      rules.some(({ verbs, resources }) => has(verbs, verb) && has(resources, resource)),
  )
}

function refusalFinding(account: ServiceAccount, calls: readonly FlowEvent[], grants: readonly Grant[]): Finding {
  const [first] = calls
  const { verb, resource, namespace } =
    first === undefined ? { verb: '', resource: '', namespace: '' } : requestOf(first)
  const where = namespace === '' ? 'in the whole cluster' : `in the namespace ${namespace}`
  const last = new Date(calls.at(-1)?.atMs ?? 0).toISOString().replace(/\.\d+Z$/, 'Z')
  const bound =
    grants.length === 0
      ? 'No role is bound to it.'
      : `The roles that are bound to it do not allow this: ${namesText(grants.map(({ title }) => title))}.`
  return problem(
    `Its requests are refused: ${verb} ${resource} ${where} (${plural(calls.length, 'time')}, last at ${last}). ${bound}`,
    { fix: grantCommand(account, { verb, resource, namespace }) },
  )
}

const readVerbs = ['get', 'list', 'watch']

/** A role for the request and a binding of it. Who reads objects usually needs all verbs of reading. */
function grantCommand(account: ServiceAccount, { verb, resource, namespace }: RefusedRequest): string {
  const { metadata } = account
  const name = `${metadata.name}-${resource.replace('/', '-')}`
  const subject = `--serviceaccount=${namespaceOf(account)}:${metadata.name}`
  const verbs = readVerbs.includes(verb) ? readVerbs.join(',') : verb
  const [kind, binding] = namespace === '' ? ['clusterrole', 'clusterrolebinding'] : ['role', 'rolebinding']
  return [
    kubectl(namespace, 'create', kind, name, `--verb=${verbs}`, `--resource=${resource}`),
    kubectl(namespace, 'create', binding, name, `--${kind}=${name}`, subject),
  ].join(' && ')
}
