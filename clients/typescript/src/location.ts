/** Where the compiled sources are. The build for CommonJS, which has no import.meta, puts another file in the place of this one: build.mjs. */

export const moduleUrl: string = import.meta.url
