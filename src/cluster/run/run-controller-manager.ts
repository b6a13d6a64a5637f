// A controller manager in its own process, with the keys and authorities of the cluster that it is given.
import { controllersSender } from '../../api/coxswain/v1/flow-protocol.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { controllers } from '../../controllers/controllers.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import { Authority, type Identity } from '../../pki/authority.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { controllerManagerComponent } from '../components/controller-manager.ts'
import type { ControllerManagerSettings } from '../flags/controller-manager-flags.ts'
import { nodeRangesOf, type NodeRangeFlagValues } from '../flags/node-ranges.ts'
import { signingDurationMs } from '../flags/signing-duration.ts'
import { directoryRemover } from './host-directories.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunControllerManagerOptions
  extends Omit<ComponentProcessOptions, 'serve' | 'lease'>, Partial<ControllerManagerSettings> {
  /** Flags for pod addresses; without them no ranges are assigned. */
  readonly nodeRangeFlags?: NodeRangeFlagValues
  /** Validity of the certificates that it signs: `8760h`. */
  readonly signingDuration?: string | undefined
  /** The authority that signs certificates; without it none are signed. */
  readonly signing?: Identity
  /** The key for legacy tokens, as PEM; without it none are created. */
  readonly accountKey?: string
  /** The authority that pods use to verify the API server, as PEM; by default the one of the kubeconfig. */
  readonly rootAuthority?: string
  /** The files that it was started with, which are not removed with the directory of a volume. */
  readonly files?: readonly string[]
}

/** Runs until the signal is aborted; throws when the lease is lost. */
export async function runControllerManager(options: RunControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const settings = settingsOf(options)
  const definition = controllerManagerComponent({
    name: controllersSender,
    lease: 'kube-controller-manager',
    isCoordinated: true,
    controllers: () => controllers,
    settings({ serverAuthority }) {
      const authority = options.rootAuthority ?? serverAuthority
      return authority === undefined ? settings : { ...settings, certificateAuthority: () => authority }
    },
  })
  await runComponent(definition, options, signal, { hasAccounts: options.hasAccounts ?? true })
}

const legacyTokens = (accountKey: string, crypto: CryptoProvider) =>
  legacyTokenIssuer(new AccountKeys({ signing: crypto.loadKey(accountKey), accepted: [] }, crypto))

/** Before anything is connected: invalid keys and flags are errors of the command. */
function settingsOf(options: RunControllerManagerOptions): ControllerSettings {
  const { nodeRangeFlags = {}, signing, signingDuration, accountKey } = options
  const { legacyTokenCleanUpMs, controllerSettings } = options
  const { crypto, files } = nodePlatform
  return {
    crypto,
    removeDirectory: directoryRemover(files, options.files ?? []),
    nodeRanges: nodeRangesOf(nodeRangeFlags, { isOn: false, clusterCidr: '' }),
    certificateLifetimeMs: signingDurationMs(signingDuration),
    ...(legacyTokenCleanUpMs === undefined ? {} : { legacyTokenCleanUpMs }),
    ...controllerSettings,
    ...(signing === undefined
      ? {}
      : { signer: Authority.load(signing, { clock: realClock, random: systemRandom, crypto }) }),
    ...(accountKey === undefined ? {} : { legacyTokens: legacyTokens(accountKey, crypto) }),
  }
}
