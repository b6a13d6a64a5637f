/** Bundles the web page into a folder, which is replaced. */
export function bundlePage(folder: string): Promise<void>
