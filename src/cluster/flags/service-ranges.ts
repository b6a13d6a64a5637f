// Service ranges: the flags for cluster IPs and node ports, with upstream's names and messages.
import { familyOf } from '../../base/net/address-family.ts'
import { cidrSize, type Cidr } from '../../base/net/cidr.ts'
import { parseCidrSloppy } from '../../base/net/sloppy-address.ts'
import { serviceRangesDefault, type ServiceRanges } from '../../apiserver/strategies/service/service-ranges.ts'

export const serviceRangeFlags = {
  'service-cluster-ip-range': {
    value: '<cidr>[,<cidr>]',
    help: `the address range of Services, one per IP family; the first is the default (${serviceRangesDefault.clusterCidrs[0]})`,
  },
  'service-node-port-range': {
    value: '<first>-<last>',
    help: `the node ports of Services (${serviceRangesDefault.nodePorts.first}-${serviceRangesDefault.nodePorts.last})`,
  },
} as const

export type ServiceRangeFlag = keyof typeof serviceRangeFlags
export type ServiceRangeFlagValues = Readonly<Partial<Record<ServiceRangeFlag, string>>>

const cidrsMax = 2
const addressesMin = 8n
const portMax = 65_535

/** Parses the flags. Throws on an invalid value. */
export const serviceRangesOf = (flags: ServiceRangeFlagValues): ServiceRanges => ({
  clusterCidrs: clusterCidrsOf(flags['service-cluster-ip-range']),
  nodePorts: nodePortsOf(flags['service-node-port-range']),
})

function clusterCidrsOf(text: string | undefined): ServiceRanges['clusterCidrs'] {
  if (text === undefined || text === '') return serviceRangesDefault.clusterCidrs
  const texts = text.split(',')
  if (texts.length > cidrsMax) throw new Error('--service-cluster-ip-range must not contain more than two entries')
  const [first, ...others] = texts.map(serviceCidrOf)
  if (first === undefined) return serviceRangesDefault.clusterCidrs
  if (others.some((cidr) => familyOf(cidr) === familyOf(first)))
    throw new Error('--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family')
  return [first, ...others]
}

function serviceCidrOf(text: string, index: number): Cidr {
  const cidr = parseCidrSloppy(text)
  if (cidr === undefined) throw new Error(`service-cluster-ip-range[${index}] is not a valid cidr`)
  if (cidrSize(cidr) < addressesMin)
    throw new Error(
      `error determining service IP ranges for ${index === 0 ? 'primary' : 'secondary'} service cidr: the service cluster IP range must be at least ${addressesMin} IP addresses`,
    )
  return cidr
}

/** `30000-32767`, one port, or the first port and how many follow it: `30000+10`. */
function nodePortsOf(text: string | undefined): ServiceRanges['nodePorts'] {
  if (text === undefined || text.trim() === '') return serviceRangesDefault.nodePorts
  const [first, last, isCount] = partsOf(text.trim())
  const end = isCount ? first + last : last
  if (end > portMax)
    throw new Error(`--service-node-port-range: the port range cannot be greater than ${portMax}: ${text}`)
  if (end < first) throw new Error(`--service-node-port-range: end port cannot be less than start port: ${text}`)
  return { first, last: end }
}

function partsOf(text: string): readonly [number, number, boolean] {
  const match = /^(\d{1,6})(?:([-+])(\d{1,6}))?$/.exec(text)
  if (match === null) throw new Error(`--service-node-port-range ${JSON.stringify(text)} is not a range of ports`)
  const [, first, separator, second] = match
  return [Number(first), Number(second ?? (separator === '+' ? 0 : first)), separator === '+']
}
