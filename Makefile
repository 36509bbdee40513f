# Short names for the commands of a working day; each is one line that can be
# typed by hand as well.

.PHONY: build test race lint fmt cross demo bench catalogue

build: ## one static binary, bin/rondo
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/rondo ./cmd/rondo

test: ## all tests
	go test ./...

race: ## all tests under the race detector
	go test -race ./...

lint: ## what .ci/run checks before the tests
	test -z "$$(go tool gofumpt -l .)"
	go vet ./...
	go tool staticcheck ./...

fmt: ## format the tree
	go tool gofumpt -w .

cross: ## build for other systems; slow where nothing is cached yet
	GOOS=windows go build ./...
	GOOS=darwin go build ./...

demo: ## watch an agent mend a program, without a key
	go run ./cmd/rondo demo

bench: ## benchmarks of the hot paths
	go test -run '^$$' -bench . -benchmem ./...

catalogue: ## bring the newest catalogue of models
	go run ./internal/cmd/catalogue-refresh
