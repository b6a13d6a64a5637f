// coxswain token create: a bootstrap token, with which another machine joins the cluster.
import { context } from '../../base/observability/context.ts'
import { systemRandom } from '../../base/random/random.ts'
import { hostOfUrl, isLoopbackHost } from '../../base/net/host-port.ts'
import { durationMs, realClock } from '../../base/time/clock.ts'
import { createJoinToken, joinCommand, joinKubeconfig } from '../../cluster/bootstrap/join-token.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { asUsage } from '../options/component-options.ts'

const { namespace: _, ...options } = clusterOptions
const validDefault = '24h'

export const token = defineCommand({
  name: 'token',
  summary: 'creates a bootstrap token, with which another machine joins the cluster',
  operands: 'create',
  options: {
    ...options,
    'print-join-command': { type: 'boolean', help: 'print the command for the other machine instead of the token' },
    ttl: { type: 'string', value: '<duration>', help: `how long it can be used (${validDefault})` },
  },
  async run({ operands, options: { ttl = validDefault, ...chosen } }, { out, environment, signal }) {
    if (operands.join(' ') !== 'create') throw new UsageError('the operand is: create')
    const validMs = asUsage(() => durationMs(ttl))
    const cluster = await chooseCluster(chosen, environment)
    return withReachabilityHint(cluster, async () => {
      await using remote = await openRemote(cluster.kubeconfig, signal)
      const { server, authority } = remote
      const isJoin = chosen['print-join-command'] === true
      if (isJoin && isLoopbackHost(hostOfUrl(new URL(server))))
        throw new UsageError(`other machines do not reach ${server}; start the cluster with --bind and its address`)
      if (isJoin && authority === undefined) throw new UsageError(`${cluster.path} has no certificate authority`)
      const deps = { client: remote.clientAs('coxswain token'), random: systemRandom, clock: realClock }
      const created = await createJoinToken(deps, validMs, context(signal))
      out(`${isJoin ? joinCommand(joinKubeconfig(server, authority ?? '', created)) : created}\n`)
      return 0
    })
  },
})
