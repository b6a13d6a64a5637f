// The identity of a caller in the flow record. Clients name their program in the User-Agent header, which any client can
// set, so the name of a cluster component counts only with that component's credentials.
import { RecentMap } from '../../base/collections/recent-map.ts'
import { ownText } from '../../base/text/own-text.ts'
import { managerOfUserAgent } from '../../api/meta/field-manager.ts'
import { controllersSender, senderPrefix } from '../../api/coxswain/v1/flow-protocol.ts'
import type { ApiRequest, User } from './request.ts'
import { serviceAccountOf, isPrivileged } from './user-names.ts'

const nodePrefix = 'system:node:'

/** The user of each component; undefined for names that are not components. */
function isComponent(name: string): ((user: User) => boolean) | undefined {
  const [first = '', ...rest] = name.split('/')
  const isUser = (expected: string) => (user: User) => user.name === expected
  switch (first.toLowerCase()) {
    case 'api server':
    case 'apiserver':
      return isUser('system:apiserver')
    case 'scheduler':
      return isUser('system:kube-scheduler')
    case controllersSender:
      return isUser('system:kube-controller-manager')
    case 'controller':
      return ({ name: user }) =>
        user === 'system:kube-controller-manager' || serviceAccountOf(user)?.namespace === 'kube-system'
    case 'kubelet':
      // Upstream's kubelets send a version here, which is cut off. Only our kubelets name their nodes.
      return rest.length === 0 ? undefined : isUser(`${nodePrefix}${rest.join('/')}`)
    default:
      return undefined
  }
}

/** What runs in the process of a kubelet and reports its flow events with the kubelet's credentials. */
const nodeAgents: readonly string[] = ['local-path', 'network-policy', 'proxy']

/** A node identifies as its own kubelet and its own agents only. Administrators may identify as anything. */
export function mayIdentifyAs(user: User, name: string): boolean {
  if (isPrivileged(user.groups)) return true
  const matchesComponent = isComponent(name)
  if (matchesComponent !== undefined) return matchesComponent(user)
  if (!user.name.startsWith(nodePrefix)) return true
  const node = user.name.slice(nodePrefix.length)
  return nodeAgents.some((agent) => name === `${agent}/${node}`)
}

/** Longer names are cut off. They are stored with each flow event and each watch of the client. */
const senderCharsMax = 128

const programPattern = /^[^/\s(]+/
const unknownSender = 'client'
/** All browsers call themselves this. */
const browserProgram = 'Mozilla'

/** What a User-Agent says of a client. */
type Client = Pick<ApiRequest, 'sender' | 'claimedSender' | 'agent'>

/** A client sends the same User-Agent with every request. Longer ones are read each time. */
const agentCharsMax = 512
const clients = new RecentMap<string, Client>(1_000)

/** The sender and the program that a User-Agent names. */
export function clientOf(userAgent: string): Client {
  const known = clients.get(userAgent)
  if (known !== undefined) return known
  const client = { ...senderOf(userAgent), agent: managerOfUserAgent(userAgent) }
  if (userAgent.length <= agentCharsMax) clients.set(ownText(userAgent), client)
  return client
}

/** The name of a component is a claim until its credentials are verified. */
function senderOf(userAgent: string): Pick<Client, 'sender' | 'claimedSender'> {
  const sent = userAgent.startsWith(senderPrefix) ? userAgent.slice(senderPrefix.length) : programOf(userAgent)
  const name = ownText(sent, senderCharsMax)
  return isComponent(name) === undefined ? { sender: name } : { sender: unknownSender, claimedSender: name }
}

function programOf(userAgent: string): string {
  const program = programPattern.exec(userAgent)?.[0] ?? unknownSender
  return program === browserProgram ? 'browser' : program
}

/** The sender after authentication. */
export const verifiedSender = (request: ApiRequest, user: User): string =>
  request.claimedSender !== undefined && mayIdentifyAs(user, request.claimedSender)
    ? request.claimedSender
    : request.sender
