// ClusterZone: the DNS records of a cluster (Kubernetes DNS-Based Service Discovery 1.1.0), as a pure index over its
// Services, EndpointSlices and Namespaces. It has no sockets and no clock: the DNS server and the simulated network use
// the same lookup. A change costs time in proportion to the changed object only.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { isIpSloppy } from '../../base/net/sloppy-address.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { labelBytesMax } from '../message/name.ts'
import { recordType, type ResourceRecord } from '../message/record.ts'
import { AddressIndex } from './address-index.ts'
import { addressOfReverseName } from './reverse-name.ts'
import { ServiceRecords } from './service-records.ts'
import { addressesOfSlice, addressOfDashed } from './slice-endpoints.ts'
import { aliasOf, isHeadless, serviceAnswer, type Answer } from './service-answer.ts'
import type { ZoneAnswer } from './zone-answer.ts'
import { addressRecord, nameRecord, zoneTimes } from './zone-records.ts'

export type { ZoneAnswer } from './zone-answer.ts'

const schemaVersion = '1.1.0'
/** How many ExternalName Services are followed for one question. */
const aliasesMax = 8
/** The API allows any number of Services to have an address; a message has room for fewer names. */
const namesOfAddressMax = 1_000
/** The Service whose address `ns.dns.<domain>` has. */
const dnsServiceKey = 'kube-dns.kube-system'

const noData: Answer = { kind: 'no-data' }
const noName: Answer = { kind: 'no-name' }

export class ClusterZone {
  /** In lower case, without a dot at the end. */
  readonly domain: string
  readonly #suffix: string
  readonly #servicesSuffix: string
  /** By `<service>.<namespace>`, including Services of which only slices are known yet. */
  readonly #services = new Map<string, ServiceRecords>()
  readonly #clusterAddresses = new AddressIndex()
  readonly #endpointAddresses = new AddressIndex()
  readonly #namespaces = new Set<string>()
  #serial = 1

  constructor(domain: string) {
    this.domain = domain.toLowerCase()
    this.#suffix = `.${this.domain}`
    this.#servicesSuffix = `.svc.${this.domain}`
  }

  setNamespace(name: string, exists: boolean): void {
    if (exists) this.#namespaces.add(name)
    else this.#namespaces.delete(name)
    this.#changed()
  }

  /** Replaces a Service; `now` is undefined when it was deleted. */
  setService(before: Service | undefined, now: Service | undefined): void {
    const object = now ?? before
    if (object === undefined) return
    this.#update(keyOfService(object.metadata.name, object.metadata.namespace), (records) => {
      for (const address of records.clusterAddresses) this.#clusterAddresses.remove(address, records)
      records.setService(now)
      for (const address of records.clusterAddresses) this.#clusterAddresses.add(address, records)
    })
  }

  /** Replaces an EndpointSlice; `now` is undefined when it was deleted. */
  setEndpointSlice(before: EndpointSlice | undefined, now: EndpointSlice | undefined): void {
    const from = keyOfSlice(before)
    const to = keyOfSlice(now)
    if (from !== undefined && from !== to) this.#setSlice(from, before, undefined)
    if (to !== undefined) this.#setSlice(to, from === to ? before : undefined, now)
  }

  #setSlice(key: string, before: EndpointSlice | undefined, now: EndpointSlice | undefined): void {
    const name = (now ?? before)?.metadata.name ?? ''
    this.#update(key, (records) => {
      for (const address of addressesOfSlice(before)) this.#endpointAddresses.remove(address, records)
      for (const address of addressesOfSlice(now)) this.#endpointAddresses.add(address, records)
      records.setSlice(name, now)
    })
  }

  #update(key: string, change: (records: ServiceRecords) => void): void {
    const records = getOrInsert(this.#services, key, () => new ServiceRecords(key))
    change(records)
    if (records.isEmpty) this.#services.delete(key)
    this.#changed()
  }

  #changed(): void {
    this.#serial = (this.#serial + 1) >>> 0
  }

  /** The SOA record, which negative responses contain. */
  get authority(): ResourceRecord {
    const { domain } = this
    return {
      name: domain,
      type: recordType.SOA,
      ttlSeconds: zoneTimes.negativeTtlSeconds,
      data: {
        kind: 'authority',
        primary: `ns.dns.${domain}`,
        mailbox: `hostmaster.${domain}`,
        serial: this.#serial,
        refreshSeconds: 7_200,
        retrySeconds: 1_800,
        expireSeconds: 86_400,
        minimumSeconds: zoneTimes.negativeTtlSeconds,
      },
    }
  }

  /** Whether the zone itself responds for the name, apart from addresses in reverse. */
  contains(name: string): boolean {
    return name.endsWith(this.#suffix) || name === this.domain
  }

  /**
   * Looks up an absolute name in lower case, without the final dot (`web.default.svc.cluster.local`), and a type of
   * `recordType`. Aliases are followed as long as they stay in the zone.
   */
  lookup(name: string, type: number): ZoneAnswer {
    const records = this.recordsOf(name)
    const known = records?.knownAnswer(type)
    if (known !== undefined) return known
    const answer = this.#followed(name, type)
    // An answer with aliases depends on other Services too.
    if (records?.service !== undefined && aliasOf(records.service) === undefined) records.keepAnswer(type, answer)
    return answer
  }

  /** What is known of the Service with this name. Its answers are those for the name. */
  recordsOf(name: string): ServiceRecords | undefined {
    return name.endsWith(this.#servicesSuffix)
      ? this.#services.get(name.slice(0, -this.#servicesSuffix.length))
      : undefined
  }

  #followed(name: string, type: number): ZoneAnswer {
    const aliases: ResourceRecord[] = []
    let current = name
    while (aliases.length <= aliasesMax) {
      const answer = this.#answer(current, type)
      switch (answer.kind) {
        case 'records':
          return { kind: 'records', records: [...aliases, ...answer.records], additional: answer.additional }
        case 'no-data':
        case 'no-name':
          return { kind: answer.kind, records: aliases }
        case 'elsewhere':
          return { kind: 'elsewhere', records: aliases, name: current }
        case 'alias':
          aliases.push(nameRecord(recordType.CNAME, current, answer.target))
          if (type === recordType.CNAME) return { kind: 'records', records: aliases, additional: [] }
          current = answer.target
          break
        default:
          return answer satisfies never
      }
    }
    return { kind: 'alias-loop' }
  }

  #answer(name: string, type: number): Answer {
    const { domain } = this
    if (name === domain) return this.#apexAnswer(type)
    if (!name.endsWith(this.#suffix)) return this.#reverseAnswer(name, type)
    const labels = name.slice(0, -this.#suffix.length).split('.')
    switch (labels.pop()) {
      case 'svc':
        return this.#servicesAnswer(name, labels, type)
      case 'pod':
        return this.#podsAnswer(name, labels, type)
      case 'dns-version':
        return labels.length > 0 ? noName : this.#versionAnswer(name, type)
      case 'dns':
        return this.#nameServerAnswer(name, labels, type)
      default:
        return noName
    }
  }

  #apexAnswer(type: number): Answer {
    if (type === recordType.SOA) return { kind: 'records', records: [this.authority], additional: [] }
    if (type !== recordType.NS) return noData
    const server = `ns.dns.${this.domain}`
    const records = [nameRecord(recordType.NS, this.domain, server)]
    const addresses = [recordType.A, recordType.AAAA].map((of) => this.#answer(server, of))
    return {
      kind: 'records',
      records,
      additional: addresses.flatMap((answer) => (answer.kind === 'records' ? answer.records : [])),
    }
  }

  #versionAnswer(name: string, type: number): Answer {
    if (type !== recordType.TXT) return noData
    const { ttlSeconds } = zoneTimes
    return {
      kind: 'records',
      records: [{ name, type, ttlSeconds, data: { kind: 'texts', texts: [schemaVersion] } }],
      additional: [],
    }
  }

  /** `dns` and `ns.dns`. */
  #nameServerAnswer(name: string, labels: readonly string[], type: number): Answer {
    if (labels.length === 0) return noData
    if (labels.length > 1 || labels[0] !== 'ns') return noName
    const records = this.#services.get(dnsServiceKey)
    if (records === undefined || (type !== recordType.A && type !== recordType.AAAA)) return noData
    const answer = serviceAnswer(records, name, [], type, this.domain)
    return answer.kind === 'records' ? answer : noData
  }

  /** The labels before `svc`: `[port, protocol, service, namespace]`, `[endpoint, service, namespace]` or fewer. */
  #servicesAnswer(name: string, labels: readonly string[], type: number): Answer {
    const namespace = labels.at(-1)
    if (namespace === undefined) return noData
    const service = labels.at(-2)
    if (service === undefined) return this.#namespaces.has(namespace) ? noData : noName
    const records = this.#services.get(keyOfService(service, namespace))
    if (records?.service === undefined) return noName
    const target = aliasOf(records.service)
    if (target !== undefined) return isAliasTarget(target) && labels.length === 2 ? { kind: 'alias', target } : noName
    return serviceAnswer(records, name, labels.slice(0, -2), type, this.domain)
  }

  /** `10-0-0-1.<namespace>.pod`: any address, in a namespace that exists. */
  #podsAnswer(name: string, labels: readonly string[], type: number): Answer {
    const namespace = labels.at(-1)
    if (namespace === undefined) return noData
    if (labels.length > 2 || !this.#namespaces.has(namespace)) return noName
    const pod = labels.at(-2)
    if (pod === undefined) return noData
    const address = addressOfDashed(pod)
    if (address === undefined) return noName
    const record = addressRecord(name, address)
    return record.type === type ? { kind: 'records', records: [record], additional: [] } : noData
  }

  #reverseAnswer(name: string, type: number): Answer {
    const address = addressOfReverseName(name)
    const targets = address === undefined ? [] : this.#namesOf(address)
    if (targets.length === 0) return { kind: 'elsewhere' }
    if (type !== recordType.PTR) return noData
    const records = targets.map((target) => nameRecord(recordType.PTR, name, target))
    return { kind: 'records', records, additional: [] }
  }

  /** The Service with the cluster IP; otherwise endpoints with a hostname; otherwise endpoints of headless Services. */
  #namesOf(address: string): string[] {
    const [owner] = this.#clusterAddresses.of(address)
    if (owner !== undefined) return [`${owner.key}.svc.${this.domain}`]
    const found: { readonly hasHostname: boolean; readonly target: string }[] = []
    for (const records of this.#endpointAddresses.of(address)) {
      const { service, key } = records
      if (service === undefined || aliasOf(service) !== undefined) continue
      for (const { label, hasHostname } of records.endpointsAt(address))
        if (hasHostname || isHeadless(service))
          found.push({ hasHostname, target: `${label}.${key}.svc.${this.domain}` })
      if (found.length > namesOfAddressMax) break
    }
    const named = found.filter(({ hasHostname }) => hasHostname)
    return [...new Set((named.length > 0 ? named : found).map(({ target }) => target))]
  }
}

/** The API accepts an address and labels that are too long for DNS; neither can be the target of a CNAME record. */
const isAliasTarget = (target: string): boolean =>
  !isIpSloppy(target) && target.split('.').every((label) => label.length > 0 && label.length <= labelBytesMax)

const keyOfService = (name: string, namespace = ''): string => `${name}.${namespace}`

function keyOfSlice(slice: EndpointSlice | undefined): string | undefined {
  const service = slice?.metadata.labels?.[serviceNameLabel]
  return service === undefined || service === '' ? undefined : keyOfService(service, slice?.metadata.namespace)
}
