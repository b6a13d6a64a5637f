// PeerSets: one set of addresses for each selection of pods that rules name. Rules with equal selections share a set, so
// that a pod is added once, whatever the number of policies that select it.
import type { ObjectKey } from '../../api/meta/object.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { PodSelection } from '../rules/compiled-policy.ts'
import { isSelected, namedPortId, type PodFacts } from '../rules/pod-facts.ts'
import { SelectionIndex } from '../rules/selection-index.ts'
import { addressTypeOf, families, protocolNames, suffixOf } from './policy-layout.ts'
import type { NamedPort } from './rule-lines.ts'
import type { TrackedContent } from './tracked-content.ts'

type Elements = readonly (CommandText | IpAddress)[]

export interface PeerSet {
  readonly id: string
  /** Without the suffix of its family. */
  readonly name: CommandText
  readonly selection: PodSelection
  readonly named: NamedPort | undefined
  uses: number
  /** The number of pods with each element: for a moment, two pods may have one address. */
  readonly counts: Map<CommandText | IpAddress, number>
}

/** The pods of the cluster that have addresses. */
export interface PeerSource {
  pods(namespace: string | undefined): Iterable<PodFacts>
  labelsOf(namespace: string): Labels | undefined
}

export class PeerSets {
  readonly #content: TrackedContent
  readonly #source: PeerSource
  readonly #sets = new Map<string, PeerSet>()
  readonly #index = new SelectionIndex<PeerSet>()
  /** The elements of each pod, by set. */
  readonly #ofPod = new Map<ObjectKey, Map<PeerSet, Elements>>()
  #lastNumber = 0

  constructor(content: TrackedContent, source: PeerSource) {
    this.#content = content
    this.#source = source
  }

  /** The set of a rule, which is released when the rule is gone. */
  acquire(selection: PodSelection, named?: NamedPort): PeerSet {
    const id = JSON.stringify([selection, named?.protocol, named?.name])
    const known = this.#sets.get(id)
    if (known !== undefined) {
      known.uses++
      return known
    }
    const name = commandText`peers-${++this.#lastNumber}-of`
    const set: PeerSet = { id, name, selection, named, uses: 1, counts: new Map() }
    this.#sets.set(id, set)
    this.#index.add(selection, set)
    for (const family of families)
      this.#content.setObject(commandText`${name}${suffixOf(family)}`, {
        kind: 'set',
        lines: [
          commandText`type ${addressTypeOf(family)}${named === undefined ? '' : ' . inet_proto . inet_service'};`,
        ],
      })
    const { namespaces } = selection
    for (const pod of this.#source.pods('name' in namespaces ? namespaces.name : undefined)) this.#join(pod, set)
    return set
  }

  release(set: PeerSet): void {
    if (--set.uses > 0) return
    for (const key of set.counts.keys()) this.#setElement(set, key, false)
    for (const members of this.#ofPod.values()) members.delete(set)
    for (const family of families) this.#content.setObject(commandText`${set.name}${suffixOf(family)}`, undefined)
    this.#index.remove(set.selection, set)
    this.#sets.delete(set.id)
  }

  /** Puts the pod into the sets that select it. Called for each change of the pod or of the labels of its namespace. */
  update(key: ObjectKey, now: PodFacts | undefined): void {
    const before = this.#ofPod.get(key) ?? new Map<PeerSet, Elements>()
    this.#ofPod.delete(key)
    if (now !== undefined) for (const set of this.#index.candidates(now)) this.#join(now, set)
    for (const [set, elements] of before) for (const element of elements) this.#count(set, element, -1)
  }

  #join(pod: PodFacts, set: PeerSet): void {
    if (!isSelected(set.selection, pod, this.#source.labelsOf(pod.namespace))) return
    const elements = elementsOf(pod, set.named)
    if (elements.length === 0) return
    const members = this.#ofPod.get(pod.key)
    if (members === undefined) this.#ofPod.set(pod.key, new Map([[set, elements]]))
    else members.set(set, elements)
    for (const element of elements) this.#count(set, element, 1)
  }

  #count(set: PeerSet, element: Elements[number], step: 1 | -1): void {
    const count = (set.counts.get(element) ?? 0) + step
    if (count === 0) set.counts.delete(element)
    else set.counts.set(element, count)
    this.#setElement(set, element, count > 0)
  }

  #setElement({ name }: PeerSet, element: Elements[number], isMember: boolean): void {
    this.#content.setElement(
      commandText`${name}${suffixOf(familyOf(element))}`,
      commandText`${element}`,
      isMember ? '' : undefined,
    )
  }
}

const elementsOf = ({ addresses, ports }: PodFacts, named: NamedPort | undefined): Elements => {
  if (named === undefined) return addresses
  const numbers = ports.get(namedPortId(named.protocol, named.name)) ?? []
  return addresses.flatMap((address) =>
    numbers.map((number) => commandText`${address} . ${protocolNames[named.protocol]} . ${number}`),
  )
}
