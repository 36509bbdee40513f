// Command catalogue-refresh rewrites the model catalogue of package provider
// from a newer version of the data set that it is made of: the files of the Go
// module charm.land/catwalk, which its maintainers renew daily.
//
//	go run ./internal/cmd/catalogue-refresh [-version latest] [-o model/provider/catalogue.txt]
//
// The module is fetched through the go command, so its checksum is verified;
// none of its code is compiled and it is no dependency of this module.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
)

const (
	module  = "charm.land/catwalk"
	licence = "MIT (c) Charmbracelet, Inc."
	configs = "internal/providers/configs"
)

func main() {
	version := flag.String("version", "latest", "version of "+module)
	out := flag.String("o", "model/provider/catalogue.txt", "file to write")
	flag.Parse()
	if err := refresh(*version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue-refresh:", err)
		os.Exit(1)
	}
}

func refresh(version, out string) error {
	file, version, err := download(version)
	if err != nil {
		return err
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("open the module's archive: %w", err)
	}
	defer archive.Close()
	dir, err := fs.Sub(archive, path.Join(module+"@"+version, configs))
	if err != nil {
		return err
	}
	providers, err := read(dir)
	if err != nil {
		return err
	}
	text := convert(providers, fmt.Sprintf("Data: %s %s, licence %s", module, version, licence))
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %s %s, %d providers, %d bytes\n", out, module, version, len(providers), len(text))
	return nil
}

// download has the go command fetch the module and returns its archive and
// the version that it is.
func download(version string) (file, resolved string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	var got struct{ Version, Zip, Error string }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		return "", "", fmt.Errorf("go mod download %s@%s: %w: %s", module, version, errors.Join(runErr, err), stderr.Bytes())
	}
	if got.Zip == "" {
		return "", "", fmt.Errorf("go mod download %s@%s: %s", module, version, got.Error)
	}
	// An archive beside an error is whole: its code asks for a newer Go than
	// this one, which does not matter for its data.
	return got.Zip, got.Version, nil
}
