// WebhookConversion: the strategy Webhook. Objects are converted by an external server, many in one review.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Cause, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { WebhookConnections, WebhookEndpoint } from '../outbound/webhook-connections.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'
import type { ConversionMetrics } from './conversion-metrics.ts'
import {
  ConversionError,
  conversionReview,
  convertedObjects,
  failedCall,
  reviewVersionOf,
  type ConversionFailure,
  type ReviewVersion,
} from './conversion-review.ts'
import { noConversion, type VersionConversion } from './version-conversion.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

export interface ConversionDeps {
  /** Undefined where the server calls no webhooks. */
  readonly connections: WebhookConnections | undefined
  readonly lister: ObjectLister
  readonly metrics: ConversionMetrics
  readonly flow: FlowRecorder
  readonly clock: Clock
  readonly random: Random
}

/** The conversion that a definition specifies. */
export function conversionOf({ metadata, spec }: CustomResourceDefinition, deps: ConversionDeps): VersionConversion {
  const { strategy, webhook } = spec.conversion ?? {}
  if (strategy !== 'Webhook' || webhook?.clientConfig === undefined) return noConversion
  const endpoint = { clientConfig: webhook.clientConfig, timeoutSeconds: conversionSeconds }
  return new WebhookConversion(metadata.name, endpoint, reviewVersionOf(webhook.conversionReviewVersions), deps)
}

/** As upstream; a definition cannot change it. */
const conversionSeconds = 30
/** A longer list is converted in several reviews, so that encoding one does not block the event loop. */
const objectsPerReviewMax = 500
/** Added to twice the size of the request: conversion may make objects larger, within reason. */
const responseBytesFree = 4 << 20

export class WebhookConversion implements VersionConversion {
  readonly #definition: string
  readonly #endpoint: WebhookEndpoint
  readonly #reviewVersion: ReviewVersion
  readonly #deps: ConversionDeps

  constructor(definition: string, endpoint: WebhookEndpoint, reviewVersion: ReviewVersion, deps: ConversionDeps) {
    this.#definition = definition
    this.#endpoint = endpoint
    this.#reviewVersion = reviewVersion
    this.#deps = deps
  }

  convert(
    objects: readonly ApiObject[],
    apiVersion: string,
    context: Context,
  ): readonly ApiObject[] | Promise<readonly ApiObject[]> {
    const others = objects.filter((object) => object.apiVersion !== apiVersion)
    return others.length === 0 ? objects : this.#convertOthers(objects, others, apiVersion, context)
  }

  async #convertOthers(
    objects: readonly ApiObject[],
    others: readonly ApiObject[],
    apiVersion: string,
    context: Context,
  ): Promise<readonly ApiObject[]> {
    const converted = new Map<ApiObject, ApiObject>()
    for (let start = 0; start < others.length; start += objectsPerReviewMax) {
      const sent = others.slice(start, start + objectsPerReviewMax)
      const results = await this.#review(sent, apiVersion, context)
      for (const [index, object] of sent.entries()) converted.set(object, results[index] ?? object)
    }
    return objects.map((object) => converted.get(object) ?? object)
  }

  async #review(
    objects: readonly ApiObject[],
    apiVersion: string,
    { signal, cause }: Context,
  ): Promise<readonly ApiObject[]> {
    const { clock, metrics } = this.#deps
    const [first] = objects
    const call = {
      definition: this.#definition,
      fromVersion: versionIn(first?.apiVersion),
      toVersion: versionIn(apiVersion),
    }
    const finished = this.#recordCall(objects, call.toVersion, cause)
    const startMs = clock.monotonicMs()
    const ended = (failure: ConversionFailure | undefined) => {
      metrics.observe(call, (clock.monotonicMs() - startMs) / 1000, failure)
      finished(failure === undefined ? 'converted' : 'failed')
    }
    try {
      const results = await this.#post(objects, apiVersion, signal)
      ended(undefined)
      return results
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ConversionError)) throw error
      ended(error.failure)
      const subject = `conversion webhook for ${first?.apiVersion}, Kind=${first?.kind}`
      throw new StatusError(500, '', error.isWhole ? error.message : `${subject} ${error.message}`, undefined, {
        cause: error,
      })
    }
  }

  async #post(objects: readonly ApiObject[], apiVersion: string, signal: AbortSignal): Promise<readonly ApiObject[]> {
    const { connections, lister, random } = this.#deps
    if (connections === undefined) throw failedCall('this server calls no webhooks')
    const sent = { version: this.#reviewVersion, uid: newUid(random), apiVersion, objects }
    const body = jsonText(conversionReview(sent.version, sent.uid, apiVersion, objects))
    const endpoint = { ...this.#endpoint, responseBytesMax: 2 * body.length + responseBytesFree }
    const response = await connections.post(endpoint, body, lister, signal).catch((error: unknown) => {
      throw failedCall((error as Error).message, error)
    })
    return convertedObjects(response, sent)
  }

  /** Records the call in the flow; returns a function that records its outcome. */
  #recordCall(objects: readonly ApiObject[], version: string, cause: Cause): (outcome: string) => void {
    const { flow } = this.#deps
    const resource = this.#definition.slice(0, this.#definition.indexOf('.'))
    const [first] = objects
    const name = objects.length === 1 ? (first?.metadata.name ?? '') : ''
    const subject = { resource, namespace: first?.metadata.namespace ?? '', name }
    const what = `convert ${resource} to ${version}`
    const call = flow.record('call', 'API Server', `Webhook/${this.#definition}`, what, subject, 0, cause)
    return (outcome) => flow.finish(call, outcome)
  }
}

const versionIn = (apiVersion = ''): string => apiVersion.slice(apiVersion.indexOf('/') + 1)
