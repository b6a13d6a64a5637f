// ControllerSettings: what the cluster configures for its controllers.
import type { CertificateSigner } from '../../pki/certificate-signer.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'

/** A pod range, divided into equal ranges for nodes. */
export interface NodeRanges {
  /** The pod range of the cluster. */
  readonly cidr: string
  /** The prefix length of a node's range. */
  readonly maskSize: number
}

/** The address ranges for the pods of nodes. */
export interface NodeRangeSettings {
  /** One for each address family; none where nodes set their own ranges. */
  readonly ranges: readonly NodeRanges[]
  /** Ranges that are used otherwise: no node gets one that overlaps them. */
  readonly reserved: readonly string[]
}

/** Issues the tokens in Secrets of type `kubernetes.io/service-account-token`. */
export interface LegacyTokenIssuer {
  issue(holder: {
    readonly namespace: string
    readonly account: { readonly name: string; readonly uid: string }
    readonly secret: string
  }): string
}

/** Configuration of the horizontal pod autoscaler, with upstream's flags `--horizontal-pod-autoscaler-*`. */
export interface AutoscalerSettings {
  /** How often each autoscaler is evaluated. */
  readonly syncMs: number
  /** The highest recommendation of this time counts when replicas would be removed. */
  readonly downscaleStabilizationMs: number
  /** For this long after its start, the CPU usage of a pod counts only if it was measured while the pod was ready. */
  readonly cpuInitializationMs: number
  /** A pod that became unready within this time after its start was never ready. */
  readonly initialReadinessDelayMs: number
  /** By how much the ratio of usage and target may differ from 1 without a change. */
  readonly tolerance: number
}

/** Configuration of the node lifecycle controller, with upstream's flags `--node-monitor-grace-period` and others. */
export interface NodeLifecycleSettings {
  /** The conditions of a node without a heartbeat for this long become Unknown. */
  readonly graceMs: number
  /** The same for a node that has never reported. */
  readonly startupGraceMs: number
  /** Nodes per second of a zone from which pods are evicted. */
  readonly evictionRate: number
  /** The same while a large zone is disrupted. In smaller zones, evictions stop. */
  readonly disruptedEvictionRate: number
  /** Zones with more nodes are large. */
  readonly largeZoneNodes: number
  /** The share of nodes that are not ready from which a zone is disrupted. */
  readonly disruptedShare: number
}

/** Configuration of the controllers. */
export interface ControllerSettings {
  /** The PEM of the authorities of API servers' certificates, which may be replaced; without it, none are published. */
  readonly certificateAuthority?: () => string
  readonly nodeRanges?: NodeRangeSettings
  /** Without it, no certificates are signed. */
  readonly signer?: CertificateSigner
  /** The longest lifetime of a signed certificate; a year when left out. */
  readonly certificateLifetimeMs?: number
  /** Without it, Secrets get no tokens. */
  readonly legacyTokens?: LegacyTokenIssuer
  /** After how long an unused token in a Secret is invalidated; a year when left out. */
  readonly legacyTokenCleanUpMs?: number
  /** Upstream's defaults when left out, as for those below. */
  readonly horizontalPodAutoscaler?: AutoscalerSettings
  readonly nodeLifecycle?: NodeLifecycleSettings
  /** Of more finished pods the oldest are deleted; 0: none is. */
  readonly finishedPodsMax?: number
  /**
   * Removes a directory of the machine on which the controllers run, for `hostPath` volumes with the reclaim policy Delete.
   * Left out where that machine has no directories of volumes.
   */
  readonly removeDirectory?: (path: string) => Promise<void>
  readonly crypto?: Pick<CryptoProvider, 'hmacSha256' | 'sha256'>
}
