// coxswain rotate: replaces the keys of a cluster while it runs.
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { encryptionConfigFile } from '../../cluster/policy/encryption-at-rest.ts'
import { findServerFile, readServerFile } from '../../cluster/data-directory/server-files.ts'
import { accountKeyFile, retireAccountKeys, rotateAccountKey } from '../../cluster/rotation/rotate-account-key.ts'
import { authorityFiles, retireAuthorities, rotateAuthorities } from '../../cluster/rotation/rotate-authorities.ts'
import {
  failuresText,
  retireEncryptionKeys,
  rotateEncryptionKey,
  type EncryptionRotateDeps,
} from '../../cluster/rotation/rotate-encryption-key.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { chooseCluster, withReachabilityHint } from '../options/choose-cluster.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'

const namesShown = 10

export const rotate = defineCommand({
  name: 'rotate',
  summary:
    'replaces the CAs, the key that signs ServiceAccount tokens, or that of encryption at rest, while all servers run',
  operands: 'ca|service-account-key|encryption-key',
  operandValues: () => Object.keys(rotations),
  operandsMax: 1,
  options: {
    ...clusterNameOptions,
    retire: {
      type: 'boolean',
      help: 'makes no new key: what was signed with an earlier one is no longer accepted, and earlier ones decrypt nothing',
    },
    force: { type: 'boolean', help: 'with --retire: also if nodes, Secrets or other objects need the earlier key' },
  },
  async run({ operands: [what = ''], options: { retire = false, force = false, ...choice } }, terminal) {
    const rotation = Object.entries(rotations).find(([name]) => name === what)?.[1]
    if (rotation === undefined)
      throw new UsageError('the operand is what to rotate: ca, service-account-key or encryption-key')
    if (force && !retire) throw new UsageError('--force has no effect without --retire')
    const { environment, signal } = terminal
    const directory = dataDirectoryOf(choice, environment)
    const cluster = await chooseCluster({ kubeconfig: `${directory}/admin.kubeconfig` }, environment)
    return withReachabilityHint(cluster, async () => {
      await using remote = await openRemote(cluster.kubeconfig, signal)
      const read = async (name: string) => [name, await readServerFile(directory, name)] as const
      const config = await findServerFile(directory, encryptionConfigFile)
      const { parse } = await import('yaml')
      const deps = {
        client: remote.clientAs('coxswain rotate'),
        clock: realClock,
        random: systemRandom,
        crypto: nodePlatform.crypto,
        initial: {
          ...Object.fromEntries(await Promise.all([accountKeyFile, ...authorityFiles].map(read))),
          ...(config === undefined ? {} : { [encryptionConfigFile]: config }),
        },
        parseYaml: (text: string): unknown => parse(text),
        onProgress: (text: string) => terminal.err(`coxswain rotate: ${text}\n`),
      }
      await (retire ? rotation.retire(deps, force, terminal) : rotation.rotate(deps, terminal))
      return 0
    })
  },
})

type Deps = EncryptionRotateDeps

interface Rotation {
  rotate(deps: Deps, terminal: Terminal): Promise<void>
  retire(deps: Deps, force: boolean, terminal: Terminal): Promise<void>
}

const rotations: Readonly<Record<string, Rotation>> = {
  ca: {
    async rotate(deps, { out, signal }) {
      const { isNew, missingNodes: missing } = await rotateAuthorities(deps, signal)
      const what = isNew ? 'A new CA signs certificates.' : 'A rotation has begun before, and no other one was started.'
      out(`${what} Certificates of the earlier CA are accepted until: coxswain rotate ca --retire\n`)
      if (missing.length === 0) return
      const more = missing.length > namesShown ? ` and ${missing.length - namesShown} more` : ''
      out(`Nodes that do not trust the new CA yet: ${missing.slice(0, namesShown).join(', ')}${more}\n`)
    },
    async retire(deps, force, { out, signal }) {
      const hadEarlier = await retireAuthorities({ ...deps, force }, signal)
      out(hadEarlier ? 'The earlier CA is no longer trusted.\n' : 'There is no earlier CA that is trusted.\n')
    },
  },
  'service-account-key': {
    async rotate(deps, { out, signal }) {
      await rotateAccountKey(deps, signal)
      out(
        'A new key signs ServiceAccount tokens. Those of the earlier key are accepted until: coxswain rotate service-account-key --retire\n',
      )
    },
    async retire(deps, force, { out, signal }) {
      const count = await retireAccountKeys({ ...deps, force }, signal)
      out(
        count === 0
          ? 'There are no earlier keys whose tokens are accepted.\n'
          : `Tokens of ${count === 1 ? 'the earlier key' : `${count} earlier keys`} are no longer accepted.\n`,
      )
    },
  },
  'encryption-key': {
    async rotate(deps, { out, signal }) {
      const { isFirst, objects, failures } = await rotateEncryptionKey(deps, signal)
      const text = `${objects} ${objects === 1 ? 'object was' : 'objects were'} stored again.`
      if (failures.length > 0) throw new Error(`the new key encrypts, but ${failuresText(failures)}`)
      if (isFirst) out(`Secrets are encrypted at rest now. ${text}\n`)
      else
        out(
          `A new key encrypts objects. ${text} The earlier key can decrypt until: coxswain rotate encryption-key --retire\n`,
        )
    },
    async retire(deps, force, { out, signal }) {
      const count = await retireEncryptionKeys({ ...deps, force }, signal)
      out(
        count === 0
          ? 'There are no earlier keys that can decrypt objects.\n'
          : `${count === 1 ? 'The earlier key' : `${count} earlier keys`} can no longer decrypt objects.\n`,
      )
    },
  },
}
