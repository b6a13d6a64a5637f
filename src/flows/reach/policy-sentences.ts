// What network policies say about traffic, in sentences: the rule that allows it, or the policies that block it and what each
// of their rules is for.
import { splitKey } from '../../api/meta/object.ts'
import type { Direction } from '../../network-policy/rules/compiled-policy.ts'
import type { MissedRule, SideVerdict, Traffic, TrafficEnd } from '../../network-policy/rules/decision.ts'
import { plural } from '../why/explainer/explainer.ts'

/** Rules that are described; others are counted. */
const rulesMax = 5

/** What the policies of one side decide. */
export function sideSentence(direction: Direction, verdict: SideVerdict, traffic: Traffic): string {
  const [subject, peer] = direction === 'egress' ? [traffic.from, traffic.to] : [traffic.to, traffic.from]
  const side = `The ${direction} of ${endText(subject)}`
  switch (verdict.kind) {
    case 'not isolated':
      return subject.pod === undefined ? unselectedText(direction, subject) : `${side} is restricted by no policy.`
    case 'itself':
      return 'A pod always reaches itself, whatever its policies are.'
    case 'own node':
      return 'A pod and its own node always reach one another, whatever the policies are.'
    case 'allowed':
      return `${side} is allowed by rule ${direction}[${verdict.rule}] of the policy ${verdict.policy}.`
    case 'blocked': {
      const { policies, missed } = verdict
      const port = `${traffic.protocol} port ${traffic.port}`
      const what = direction === 'egress' ? `${port} of ${endText(peer)}` : `${endText(peer)} at ${port}`
      return [
        `${side} is blocked: ${policies.length === 1 ? 'the policy' : 'the policies'} ${listText(policies)} ${policies.length === 1 ? 'isolates' : 'isolate'} it, and no rule allows ${what}.`,
        ...missedText(direction, policies, missed),
      ].join(' ')
    }
    default:
      return verdict satisfies never
  }
}

const unselectedText = (direction: Direction, { address, node }: TrafficEnd): string =>
  node === undefined
    ? `${address} is not the address of a pod, so no policy restricts ${direction} there.`
    : `${address} is an address of node ${node}, whose ${direction} policies do not restrict.`

/** `pod default/a`, or the address. */
export const endText = ({ address, pod, node }: TrafficEnd): string =>
  pod !== undefined ? `pod ${pod.key}` : node === undefined ? address : `node ${node} (${address})`

function missedText(direction: Direction, policies: readonly string[], missed: readonly MissedRule[]): string[] {
  const empty = policies.filter((key) => !missed.some(({ policy }) => policy === key))
  return [
    ...(empty.length === 0 ? [] : [`${listText(empty)} ${empty.length === 1 ? 'has' : 'have'} no ${direction} rules.`]),
    ...missed
      .slice(0, rulesMax)
      .map(({ policy, rule, differs }) => `Rule ${direction}[${rule}] of ${policy} is for ${differences[differs]}.`),
    ...(missed.length > rulesMax ? [`${plural(missed.length - rulesMax, 'more rule')} do not match.`] : []),
  ]
}

const differences: Readonly<Record<MissedRule['differs'], string>> = {
  peer: 'other peers',
  port: 'other ports',
  'peer and port': 'other peers and other ports',
}

/** `a, b and c` */
export function listText(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** The command that shows which nodes have applied a policy. */
export function appliedHint(policy: string): string {
  const { namespace, name } = splitKey(policy)
  return `coxswain flow networkpolicy/${name} -n ${namespace} shows which nodes have applied it`
}
