// StageSet: the stages of each kind: those of files and of the cluster, or the default ones of a kind that has no others.
import { errorText, type Log } from '../base/observability/log.ts'
import { defaultStages } from './default-stages.ts'
import { readStage, type ParseYaml } from './stages/read-stage.ts'
import type { Stage } from './stages/stage.ts'
import type { StageObject } from './stages/stage-kind.ts'

/** `v1/Pod` */
export type StagedKind = string
export const stagedKind = ({ apiVersion, kind }: Pick<Stage, 'apiVersion' | 'kind'>): StagedKind =>
  `${apiVersion}/${kind}`

export class StageSet {
  readonly #parseYaml: ParseYaml
  readonly #log: Log
  readonly #ofFiles: readonly Stage[]
  readonly #ofCluster = new Map<string, Stage>()
  #byKind: ReadonlyMap<StagedKind, readonly Stage[]> = new Map()

  /** The stages of files are valid. */
  constructor(ofFiles: readonly Stage[], parseYaml: ParseYaml, log: Log) {
    this.#ofFiles = ofFiles
    this.#parseYaml = parseYaml
    this.#log = log
    this.#group()
  }

  of(kind: StagedKind): readonly Stage[] {
    return this.#byKind.get(kind) ?? []
  }

  get kinds(): readonly StagedKind[] {
    return [...this.#byKind.keys()]
  }

  /** Replaces or removes a stage of the cluster. One that cannot be read is logged and left out. Returns the kinds concerned. */
  set(name: string, object: StageObject | undefined): readonly StagedKind[] {
    const before = this.#ofCluster.get(name)
    const now = object && this.#read(object)
    if (now === undefined) this.#ofCluster.delete(name)
    else this.#ofCluster.set(name, now)
    this.#group()
    return [...new Set([before, now].flatMap((stage) => (stage === undefined ? [] : [stagedKind(stage)])))]
  }

  #read(object: StageObject): Stage | undefined {
    try {
      return readStage(object, this.#parseYaml)
    } catch (error) {
      this.#log.warn('a Stage is invalid and has no effect', { stage: object.metadata.name, error: errorText(error) })
      return undefined
    }
  }

  #group(): void {
    const given = Map.groupBy([...this.#ofFiles, ...this.#ofCluster.values()], stagedKind)
    this.#byKind = new Map([...Map.groupBy(defaultStages, stagedKind), ...given])
  }
}
